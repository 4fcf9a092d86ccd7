"""Tables of tools in texts: iostat -x of any sysstat, pidstat -d, lsblk -t, -O and -J. Each row as words by column."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

Words = Mapping[str, str]

_MOST_ROWS, _MOST_COLUMNS = 2000, 256
_NAME = re.compile(r"[\w.!/:+-]{1,64}")
_NUMBERS = re.compile(r"-?\d{1,16}(?:[.,]\d{1,6})?(?: -?\d{1,16}(?:[.,]\d{1,6})?)*")
_TREE = re.compile(r"\s*[|`├└─│]")
_DEVICES = '"blockdevices"'


def _figures(words: Sequence[str], heads: Sequence[str]) -> dict[str, float]:
    """Return numbers by column, also with decimal commas; empty if there are not as many, or others are among them."""
    if len(words) != len(heads) or not _NUMBERS.fullmatch(" ".join(words)):
        return {}
    return {head: float(word.replace(",", ".")) for head, word in zip(heads, words, strict=True)}


def iostat_rows(lines: Iterable[str]) -> Iterator[tuple[int, str, dict[str, float]]]:
    """Yield the rows of reports of iostat -x: the report's number, the device, and the figures by column.

    The number is from 0 for each call of iostat, whose first report is of all the time since boot. A long name may
    stand on a line of its own, as older versions print it.
    """
    report, heads, name = -1, list[str](), ""
    for line in lines:
        words = line.split()
        if not words:
            name = ""
        elif words[0] == "Linux" and words[-1] == "CPU)":
            report, heads = -1, []
        elif words[0] in {"Device:", "Device"} and len(words) < _MOST_COLUMNS:
            heads = words[1:] if {"r/s", "w/s"} <= set(words) or "tps" in words else []
            report, name = report + bool(heads), ""
        elif heads:
            if len(words) == len(heads) and name:
                words = [name, *words]
            name = words[0] if len(words) == 1 and _NAME.fullmatch(words[0]) else ""
            figures = _figures(words[1:], heads)
            if figures and _NAME.fullmatch(words[0]):
                yield report, words[0], figures
            elif not name and words[0] not in {"avg-cpu:", "Average:"}:
                heads = [] if len(words) > len(heads) + 1 else heads


def pidstat_rows(lines: Iterable[str]) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield the rows of pidstat -d: the program, and the figures by column; those of `Average:` are left out."""
    heads, before = list[str](), 0
    for line in lines:
        words = line.split()
        if "PID" in words and "kB_wr/s" in words and words[-1] == "Command":
            words = [word for word in words if word != "#"]
            before = min(words.index(each) for each in ("UID", "PID") if each in words)
            heads = words[before:-1]
        elif heads and len(words) > before + len(heads) and words[0] != "Average:":
            figures = _figures(words[before : before + len(heads)], heads)
            if figures:
                yield " ".join(words[before + len(heads) :]), figures


def lsblk_rows(lines: Iterable[str], text: str) -> Iterator[Words]:
    """Yield the rows of lsblk with a column for the scheduler or the like, of its tables and its JSON."""
    heads: list[tuple[str, int, int]] = []
    for line in lines:
        if re.match(r"\s*NAME\s", line) and re.search(r"\s(?:ROTA|SCHED|RQ-SIZE)\b", line):
            heads = [(found[0], *found.span()) for found in re.finditer(r"\S+", line)][:_MOST_COLUMNS]
        elif not line.strip():
            heads = []
        elif heads and not _TREE.match(line):  # what is below a disk has no queue
            yield _aligned(line, heads)
    yield from _of_json(text)


def _aligned(line: str, heads: list[tuple[str, int, int]]) -> dict[str, str]:
    """Return the words of a row that begin or end where a head does; the name first."""
    row = {"NAME": line.split(maxsplit=1)[0]}
    begins = {begin: head for head, begin, _ in heads}
    ends = {end: head for head, _, end in heads}
    for found in re.finditer(r"\S+", line):
        if head := begins.get(found.start()) or ends.get(found.end()):
            row.setdefault(head, found[0])
    return row


def _of_json(text: str) -> Iterator[Words]:
    at = text.find(_DEVICES)
    begin = text.rfind("{", 0, at) if at >= 0 else -1
    if begin < 0:
        return
    try:
        table, _ = json.JSONDecoder().raw_decode(text, begin)
    except (ValueError, RecursionError):
        return
    found: Any = table.get("blockdevices")
    for device in found[:_MOST_ROWS] if isinstance(found, list) else ():
        if not isinstance(device, dict):
            continue
        yield {
            name.upper(): str(int(value) if isinstance(value, bool) else value)
            for name, value in device.items()
            if isinstance(name, str) and isinstance(value, (str, int, bool)) and len(str(value)) < _MOST_COLUMNS
        }
