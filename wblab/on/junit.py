"""What came of a command's runs as JUnit's XML, which services for continuous integration read.

A suite is the command, a case a run; times are virtual. A command that fails, or a call over the limit, is
a failure; what the lab failed in is an error. Output is bounded: the last of it.
"""

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from wblab.core.errors import InputError
from wblab.core.units import NS_PER_S
from wblab.on.lacks import lacks_said
from wblab.on.order import ERR, OUT

if TYPE_CHECKING:
    from wblab.on.told import Told

_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # XML 1.0, 2.2: characters
_MOST_BYTES = 64 << 10  # of each stream, in a case
_COMMAND = 200  # letters of a suite's name


@dataclass(frozen=True)
class Case:
    """A run. which: of several. kind: "failure" or "error" with its words, or "" for neither. time_ns: it ran."""

    which: str
    time_ns: int = 0
    kind: str = ""
    words: str = ""
    out: str = ""
    err: str = ""


def case_of(told: "Told", which: str) -> Case:
    """Return the case of a program that ran."""
    ran, longest = told.ran, told.longest
    call = f"longest call: {longest.said(told.limit_ns)}" if longest else ""
    failed = [f"exit code {ran.said.code}"] if ran.said.code else []
    failed += [call] if told.is_over else []
    about = filter(None, (*ran.said.notes, *lacks_said(told.lacks, ran.said.code), call, f"run: {told.directory}"))
    printed = {kind: _text(ran.said.last(kind, _MOST_BYTES)) for kind in (OUT, ERR)}
    err = "\n".join(filter(None, (printed[ERR].rstrip("\n"), *(f"wblab: {line}" for line in about))))
    return Case(which, ran.said.time_ns, "failure" if failed else "", "; ".join(failed), printed[OUT], err)


def check_junit(file: Path) -> None:
    """Raise InputError if a file cannot be written."""
    if file.is_dir() or not file.absolute().parent.is_dir():
        raise InputError(f"--junit {file}: give a file in a directory that is there")


def write_junit(file: Path, disk: str, argv: Sequence[str], cases: Sequence[Case]) -> None:
    """Write the cases of a command. Raises InputError."""
    command = shlex.join(argv)
    counts = {f"{kind}s": str(sum(case.kind == kind for case in cases)) for kind in ("failure", "error")}
    total = {"tests": str(len(cases)), **counts, "time": _seconds(sum(case.time_ns for case in cases))}
    root = ElementTree.Element("testsuites", total)
    name = _valid(f"wblab on {disk} -- {command}"[:_COMMAND])
    suite = ElementTree.SubElement(root, "testsuite", {"name": name, **total, "skipped": "0"})
    for case in cases:
        attributes = {
            "classname": f"wblab.on.{Path(disk).stem}",
            "name": f"{_valid(command)[:_COMMAND]} [{case.which}]",
        }
        of = ElementTree.SubElement(suite, "testcase", {**attributes, "time": _seconds(case.time_ns)})
        if case.kind:
            words = _valid(case.words)
            ElementTree.SubElement(of, case.kind, {"message": words, "type": "wblab"}).text = words
        for stream, text in (("system-out", case.out), ("system-err", case.err)):
            if text:
                ElementTree.SubElement(of, stream).text = _valid(text)
    ElementTree.indent(root)
    try:
        ElementTree.ElementTree(root).write(file, encoding="utf-8", xml_declaration=True)
    except OSError as error:
        raise InputError(f"--junit {file}: {error.strerror}") from None


def _text(last: tuple[bytes, bool]) -> str:
    content, is_all = last
    return ("" if is_all else f"(the last {_MOST_BYTES >> 10} KiB)\n") + content.decode(errors="replace")


def _valid(text: str) -> str:
    return _NO_XML.sub("\N{REPLACEMENT CHARACTER}", text)


def _seconds(time_ns: int) -> str:
    return f"{time_ns / NS_PER_S:.3f}"
