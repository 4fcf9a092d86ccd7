"""The marks of a class, for a spreadsheet (CSV), a test runner (JUnit XML) and Gradescope (results.json)."""

import csv
import io
import json
import re
from collections.abc import Sequence
from xml.etree import ElementTree

from wblab.lab.printable import printable
from wblab.lessons.grade import LONGEST, Graded

_HEAD = ("folder", "student", "course", "lesson", "question", "outcome", "says", "for a person to read", "note")
_KINDS = {"right": "", "wrong": "failure", "missing": "failure", "kept": "skipped", "read": "skipped"}
# How a cell begins that a spreadsheet would compute, also in full width. In some countries a semicolon begins a cell.
_FORMULA = re.compile("(^|;\\s*)(?=[=+\\-@\uff1d\uff0b\uff0d\uff20])")


def as_csv(found: Sequence[Graded]) -> str:
    """Return a row for each question; one for a lesson or folder that could not be graded."""
    text = io.StringIO()
    rows = csv.writer(text)
    rows.writerow(_HEAD)
    for one in found:
        front = (one.folder, one.student.name, one.student.course, one.lesson)
        for answer in one.judged:
            said = (answer.question, answer.outcome, answer.says, answer.by_person)
            rows.writerow(map(_cell, (*front, *said, one.note)))
        if not one.judged:
            rows.writerow(map(_cell, (*front, "", "failed", "", "", one.note)))
    return text.getvalue()


def as_table(found: Sequence[Graded]) -> str:
    """Return a row for each folder: for each lesson how much is right, of how much, and how much is to be read."""
    lessons = sorted({one.lesson for one in found if one.lesson})
    folders: dict[str, dict[str, Graded]] = {}
    for one in found:
        folders.setdefault(one.folder, {})[one.lesson] = one
    text = io.StringIO()
    rows = csv.writer(text)
    heads = [f"{lesson} {what}" for lesson in lessons for what in ("right", "of", "to read")]
    rows.writerow(("folder", "student", "course", *heads, "note"))
    for folder, graded in folders.items():
        student = next(iter(graded.values())).student
        cells: list[str] = []
        for lesson in lessons:
            mine = graded.get(lesson)
            counts = (mine.points, len(mine.counted), mine.to_read) if mine and mine.judged else ("", "", "")
            cells += map(str, counts)
        notes = [f"{one.lesson}: {one.note}".removeprefix(": ") for one in graded.values() if one.note]
        rows.writerow(map(_cell, (folder, student.name, student.course, *cells, "; ".join(notes))))
    return text.getvalue()


def as_junit(found: Sequence[Graded]) -> str:
    """Return a suite for each lesson in each folder, a case for each question. Predictions are skipped cases."""
    root = ElementTree.Element("testsuites")
    for one in found:
        cases = [answer.outcome for answer in one.judged]
        suite = ElementTree.SubElement(
            root,
            "testsuite",
            name=printable(f"{one.folder} {one.lesson}".strip()),
            tests=str(max(1, len(cases))),
            failures=str(sum(case in ("wrong", "missing") for case in cases)),
            errors=str(int(one.failed)),
            skipped=str(cases.count("kept") + cases.count("read")),
        )
        found_here = [(answer.question, _KINDS[answer.outcome], answer.says) for answer in one.judged]
        for name, kind, says in [*found_here, *([(one.lesson or "folder", "error", one.note)] if one.failed else [])]:
            case = ElementTree.SubElement(suite, "testcase", classname=printable(one.folder), name=printable(name))
            if kind:
                ElementTree.SubElement(case, kind, message=printable(says))
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def as_gradescope(found: Sequence[Graded]) -> str:
    """Return the results of one folder, as Gradescope's autograder reads them."""
    tests: list[dict[str, object]] = []
    for one in found:
        for answer in one.judged:
            name = f"{one.lesson}: {answer.question}"
            if answer.outcome == "read":  # without a score: a person gives it
                tests.append({"name": name, "output": f"{answer.says}: {answer.by_person[:LONGEST]}"})
            elif answer.outcome != "kept":
                right = answer.outcome == "right"
                score = {"score": int(right), "max_score": 1, "status": "passed" if right else "failed"}
                tests.append({"name": name, "output": answer.says, **score})
        if one.failed:
            failed = {"score": 0, "max_score": 1, "status": "failed", "output": one.note}
            tests.append({"name": one.lesson or one.folder, **failed})
    notes = "; ".join(one.note for one in found if one.note)
    total = sum(answer.outcome == "right" for one in found for answer in one.judged)
    return json.dumps({"score": total, "output": notes, "tests": tests}, indent=2) + "\n"


def _cell(text: str) -> str:
    """Return a text as a cell that is no formula and fits on a line."""
    return _FORMULA.sub(r"\1'", printable(text))
