"""What a file is, by its begin: a text, a trace, a dump, the state of a machine; and what can be done with it."""

import re
from dataclasses import dataclass
from pathlib import Path

from wblab.core.errors import InputError
from wblab.core.files import open_file
from wblab.foreign.plaintext import reads_as_text
from wblab.foreign.stacklines import USER_THREAD, unprefixed

PEEK_BYTES = 1 << 16


@dataclass(frozen=True)
class FileKind:
    """A kind of file. what: in words; to_do: what can be done with a file of it, with NAME in place of its own."""

    name: str
    what: str
    to_do: str = ""


PACKED = "packed"
TEXT = FileKind("text", "a text")
TRACE = FileKind("trace.dat", "a trace of trace-cmd", "give it as a file, not by a pipe")
_UNPACKED = "unpack it first, then 'wblab why' what was in it"
_MAGIC = (
    (b"\x17\x08\x44tracing", TRACE),
    (
        b"PERFILE2",
        FileKind("perf.data", "a recording of perf", "print it: perf script -i NAME > t.txt; wblab why t.txt"),
    ),
    (b"KDUMP   ", FileKind("dump", "a dump of a kernel (kdump)", "give its stacks: crash> foreach UN bt, into a file")),
    (
        b"DISKDUMP",
        FileKind("dump", "a dump of a kernel (diskdump)", "give its stacks: crash> foreach UN bt, into a file"),
    ),
    (
        b"makedumpfile",
        FileKind("dump", "a dump of a kernel (makedumpfile)", "give its stacks: crash> foreach UN bt, into a file"),
    ),
    (b"\x1f\x8b", FileKind(PACKED, "packed by gzip", _UNPACKED)),
    (b"\xfd7zXZ\0", FileKind(PACKED, "packed by xz", _UNPACKED)),
    (b"\x28\xb5\x2f\xfd", FileKind(PACKED, "packed by zstd: 'wblab open NAME', if 'wblab pack' made it", _UNPACKED)),
    (b"BZh", FileKind(PACKED, "packed by bzip2", _UNPACKED)),
    (b"PK\x03\x04", FileKind(PACKED, "a zip file", _UNPACKED)),
    (
        b"\x7fELF",
        FileKind(
            "dump",
            "an ELF file: a program, or a dump of a kernel",
            "give a dump's stacks: crash> foreach UN bt, into a file",
        ),
    ),
    (b"LPKSHHRH", FileKind("journal", "a journal of systemd", "print it: journalctl --file NAME -k, into a file")),
    (b"SQLite format 3", FileKind("database", "a database of SQLite", "")),
    (b"\x89PNG", FileKind("picture", "a picture", "give the text that it shows")),
    (b"\xff\xd8\xff", FileKind("picture", "a picture", "give the text that it shows")),
    (b"%PDF", FileKind("document", "a PDF", "give the text that it shows")),
)
_PACKET, _SURE_PACKETS = 0x0A, 4  # protos/perfetto/trace/trace.proto: the field packet
_TAR_AT, _TAR = 257, b"ustar"
_PRESSURE = "pressure stall information"
_NAME_PRESSURE = "of which resource, only its file's name says: grep . /proc/pressure/* > psi.txt"
_COLLECT = "what is needed collects: wblab recorder --facts > facts.sh, then there: sh facts.sh > facts.txt"
_STATE = (
    ("/proc/meminfo", re.compile(r"MemTotal:\s+\d+ kB")),
    ("/proc/vmstat", re.compile(r"nr_dirty(?:_threshold)? \d+$")),
    ("the output of sysctl", re.compile(r"vm\.dirty_\w+ ?= ?\d+")),
    ("the output of iostat", re.compile(r"Device:?\s.*(?:r/s|tps)\b")),
    ("the output of pidstat", re.compile(r".*\bkB_wr/s\b")),
    (_PRESSURE, re.compile(r"(?:some|full) avg10=\d")),
    ("/proc/diskstats", re.compile(r"\d{1,4}\s+\d{1,7} \w+(?: \d+){11,}$")),
)
_FTRACE = re.compile(r"\S.{0,24}-\d+\s+(?:\(\s*[\d-]+\)\s+)?\[\d{1,4}\]\s+(?:\S{4,6}\s+)?\d+\.\d+:\s+\w+:")
_PERF_SCRIPT = re.compile(r"\S.{0,24}\s+\d+(?:/\d+)?\s+\[\d{1,4}\]\s+\d+\.\d+:\s+\w+:\w+:")
_SPEC = re.compile(r"\[(?:load|disk)(?:\.\w+)?\]")


def kind_of(begin: bytes) -> FileKind:
    """Return the kind of a file by its begin, which has up to PEEK_BYTES; TEXT for what has to be read whole."""
    for magic, kind in _MAGIC:
        if begin.startswith(magic):
            return kind
    if begin[_TAR_AT : _TAR_AT + len(_TAR)] == _TAR:
        return FileKind(PACKED, "a tar file", _UNPACKED)
    if _is_perfetto(begin):
        return FileKind(
            "perfetto",
            "a trace of Perfetto",
            "print its ftrace events with Perfetto's own tool: traceconv systrace NAME t.txt; then: wblab why t.txt",
        )
    if not begin.strip():
        return FileKind("empty", "empty", "give one with stacks of tasks")
    if b"\0" in begin and not reads_as_text(begin):
        return FileKind("data", "no text and of no kind that is known here", "give one with stacks of tasks")
    return TEXT


def _is_perfetto(begin: bytes) -> bool:
    """Whether packets of a trace of Perfetto follow each other: each with the same tag, and its length as a varint."""
    at, packets = 0, 0
    while packets < _SURE_PACKETS and at < len(begin) and begin[at] == _PACKET:
        length, shift, at = 0, 0, at + 1
        while at < len(begin) and shift < 35:
            byte, at = begin[at], at + 1
            length, shift = length | (byte & 0x7F) << shift, shift + 7
            if byte < 0x80:
                break
        at, packets = at + length, packets + 1
    return packets == _SURE_PACKETS and b"\0" in begin


def kind_of_file(path: Path) -> FileKind:
    """Return the kind of a file by its begin. Raises InputError if it cannot be read."""
    try:
        with open_file(path, follow=True) as file:
            return kind_of(file.read(PEEK_BYTES))
    except OSError as error:
        raise InputError(f"cannot read {str(path)!r}: {error.strerror}") from None


def kind_of_text(text: str) -> FileKind:
    """Return the kind of a text that has no stacks."""
    lines = [line.strip() for line in text[:PEEK_BYTES].splitlines()[:400]]
    if any(_FTRACE.match(line) or _PERF_SCRIPT.match(line) for line in lines):
        return FileKind("ftrace text", "a trace as text, without stacks and without whole balance_dirty_pages", "")
    if any(USER_THREAD.match(line) for line in lines):
        return FileKind(
            "program's stacks",
            "stacks of a program itself, which do not say what it waits for in the kernel",
            "the kernel's stacks do, as root: for t in /proc/PID/task/*; do cat $t/comm $t/stack; done",
        )
    for what, form in _STATE:
        if any(form.match(line) for line in lines):
            return FileKind(
                "state",
                f"the state of a machine ({what}), but too little of it to judge limits, queues or rates",
                _NAME_PRESSURE if what == _PRESSURE else _COLLECT,
            )
    if any(_SPEC.match(line) for line in lines):
        return FileKind(
            "spec", "an experiment", "'wblab run NAME' makes a run of it, and 'wblab why latest' explains that"
        )
    if any(unprefixed(line) != line for line in lines):
        return FileKind(
            "log",
            "a log without a stack",
            "the kernel logs stacks of blocked tasks after: echo w > /proc/sysrq-trigger",
        )
    return FileKind(
        "text", "a text without a stack", "take stacks while it freezes: echo w > /proc/sysrq-trigger; dmesg"
    )
