"""Grade the folders of a class: each student's runs are made again, and the answers judged by them.

A folder is a stranger's: it is read as data of limited size, no link in it is followed, and nothing of it is executed.
Specs are the lesson's own; of a student's, only the keys that a question allows are taken.
"""

import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from wblab.core.errors import InputError, WblabError
from wblab.core.spec import Spec
from wblab.lab.printable import printable
from wblab.lessons.check import Make, check, specs
from wblab.lessons.folder import Folder, LessonState
from wblab.lessons.judge import JudgedAnswer
from wblab.lessons.lesson import Lesson
from wblab.lessons.student import Student
from wblab.report.quantities import enumerated
from wblab.study.inputs import different, reason

LONGEST = 500  # letters of an answer that a report shows
_WRITTEN = ("number", "sentence")  # kinds of question whose answers are a student's own; choices are often equal
_MOST_NAMED = 3
_FEWEST_EQUAL = 3  # numbers that two folders may have in common by chance, less one


@dataclass(frozen=True)
class Graded:
    """One lesson in one folder. given: what the student wrote, by question, predictions left out.

    note: what a person should look at: a copied run, an unknown one, answers of another; or why it failed.
    digest, made_with: of the run made here, and what decides it; recorded, recorded_with: those that the folder names.
    """

    folder: str
    student: Student
    lesson: str
    judged: Sequence[JudgedAnswer] = ()
    digest: str = ""
    made_with: Mapping[str, str] = field(default_factory=dict)
    recorded: str = ""
    recorded_with: Mapping[str, str] = field(default_factory=dict)
    note: str = ""
    failed: bool = False
    given: Mapping[str, str] = field(default_factory=dict)

    @property
    def counted(self) -> list[JudgedAnswer]:
        """The answers that count here: all but predictions, and sentences that a person has to read."""
        return [one for one in self.judged if one.outcome not in ("kept", "read")]

    @property
    def to_read(self) -> int:
        """How many sentences a person has to read before they count."""
        return sum(one.outcome == "read" for one in self.judged)

    @property
    def points(self) -> int:
        """How many of them are right."""
        return sum(one.outcome == "right" for one in self.counted)


@dataclass(frozen=True)
class Submission:
    """A folder that was handed in. course: the lecturer's, in the place of the folder's, unless it is None."""

    path: Path
    course: str | None = None

    @property
    def folder(self) -> Folder:
        """The folder."""
        return Folder(self.path)

    def state(self) -> LessonState:
        """Return the student and the predictions. Raises InputError."""
        state = self.folder.state()
        return state if self.course is None else replace(state, course=self.course)

    def begun(self, lessons: Iterable[Lesson]) -> list[Lesson]:
        """Return the lessons that have files in it."""
        return [one for one in lessons if os.path.isdir(path := self.folder.of(one)) and not os.path.islink(path)]


def grade(
    given: Sequence[Submission], lessons: Sequence[Lesson], make: Make, jobs: int, report: Callable[[float, str], None]
) -> list[Graded]:
    """Grade folders, with so many runs at once. Raises nothing for what is in them: that is said where it belongs."""
    wanted = [spec for one in given for spec in _wanted(one, lessons)]

    def made(spec: Spec) -> None:
        try:
            make(spec)
        except WblabError:  # it is made again, and said, where it is judged
            return

    with ThreadPoolExecutor(jobs) as pool:
        for place, _ in enumerate(pool.map(made, wanted)):
            report((place + 1) / len(wanted), f"{place + 1} of {len(wanted)} runs")
    return with_notes([graded for one in given for graded in _graded(one, lessons, make)])


def _wanted(given: Submission, lessons: Sequence[Lesson]) -> Iterator[Spec]:
    """Yield the specs of all runs that a folder needs."""
    try:
        state = given.state()
    except InputError:
        return
    for lesson in given.begun(lessons):
        for _, wanted in specs(lesson, state.who, partial(given.folder.table, lesson)):
            yield from wanted


def _graded(given: Submission, lessons: Sequence[Lesson], make: Make) -> Iterator[Graded]:
    name = printable(str(given.path))
    try:
        state = given.state()
    except InputError as error:
        yield Graded(name, Student(""), "", note=printable(str(error)), failed=True)
        return
    who = Student(state.student[:LONGEST], state.course[:LONGEST])
    if not (begun := given.begun(lessons)):
        yield Graded(name, who, "", note="no lesson was begun", failed=True)
    for lesson in begun:
        progress = state.of(lesson)
        try:
            answers = given.folder.answers(lesson) | progress.expected
            found = check(lesson, state.who, answers, partial(given.folder.table, lesson), make)
        except (WblabError, OSError) as error:
            yield Graded(name, who, lesson.name, note=printable(str(error)), failed=True)
        else:
            given_here = {
                key: str(answers[key])[:LONGEST]
                for key, question in lesson.question.items()
                if question.kind in _WRITTEN and str(answers.get(key, "")).strip()
            }
            here, theirs = (found.digest, found.made_with), (progress.digest, progress.made_with)
            yield Graded(name, who, lesson.name, found.judged, *here, *theirs, given=given_here)


def _otherwise(one: Graded) -> str:
    """Return how a recorded run that nobody's folder leads to differs from the one made here, as far as is known."""
    if not one.recorded_with:
        return "not the one made here; its folder does not say what it was made with"
    if differing := different(one.recorded_with, one.made_with):
        return f"not the one made here: it was made with {printable(reason(differing))}"
    return "not the one made here, though it was made with the same inputs: was progress.json changed?"


def with_notes(found: Sequence[Graded]) -> list[Graded]:
    """Return the results with notes: whose run a folder has recorded, and which name stands in several folders."""
    owners = {(one.lesson, one.digest): one for one in found if one.digest}
    folders: dict[Student, set[str]] = {}
    for one in found:
        folders.setdefault(one.student, set()).add(one.folder)

    alike = _alike(found)

    def note(one: Graded) -> str:
        said = [one.note] if one.note else []
        others = sorted(folders[one.student] - {one.folder})
        if others and one.student.name:
            said.append(f"{', '.join(others)} has the same student, {printable(one.student.name)}")
        if one.recorded and one.recorded != one.digest and not one.failed:
            owner = owners.get((one.lesson, one.recorded))
            said.append(f"the recorded run is {f'that of {owner.folder}' if owner else _otherwise(one)}")
        return "; ".join([*said, *alike.get((one.folder, one.lesson), ())])

    return [replace(one, note=note(one)) for one in found]


def _alike(found: Sequence[Graded]) -> dict[tuple[str, str], list[str]]:
    """Return what folders have in common with others, by folder and lesson: a sentence, or all numbers.

    Sentences are compared by their words: who copies one puts in the own figures.
    """
    groups: dict[tuple[str, ...], list[Graded]] = defaultdict(list)
    for one in found:
        numbers = {key: text for key, text in one.given.items() if not _words(text)}
        for key in one.given.keys() - numbers.keys():
            groups[one.lesson, f"the sentence {key}", *_words(one.given[key])].append(one)
        if len(numbers) >= _FEWEST_EQUAL:
            groups[
                one.lesson, f"all {len(numbers)} numbers", *(f"{key} {numbers[key]}" for key in sorted(numbers))
            ].append(one)
    notes: dict[tuple[str, str], list[str]] = defaultdict(list)
    for (lesson, what, *_), several in groups.items():
        for one in several:
            others = [each.folder for each in several if each.folder != one.folder]
            if others:
                more = [f"{len(others) - _MOST_NAMED} more"] if len(others) > _MOST_NAMED else []
                notes[one.folder, lesson].append(f"{what}: the same as {enumerated([*others[:_MOST_NAMED], *more])}")
    return notes


def _words(text: str) -> list[str]:
    """Return the words of a sentence in small letters; none of a number with its unit."""
    words = re.findall(r"[^\W\d_]+", text.casefold())
    return words if len(words) > _FEWEST_EQUAL else []
