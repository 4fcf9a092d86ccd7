"""A recorder's file looked at, and kept among the results as it is: it is read where it lies."""

import hashlib
import os
import shlex
from collections.abc import Callable
from pathlib import Path

from wblab.core.errors import InputError
from wblab.core.files import open_file
from wblab.core.units import NS_PER_MS
from wblab.foreign.recording import Recording, is_recording, read_recording
from wblab.lab.held import replace_file
from wblab.lab.printable import printable
from wblab.report.quantities import duration, size
from wblab.report.report import Lines, Report

_PIECE_BYTES = 1 << 20


def opened(file: Path, room: Callable[[], Path | None]) -> Report | None:
    """Return what a recorder's file holds; None if it is none. Raises InputError for a damaged one.

    room: makes the directory in which it is to be kept under its own name; of None it is not. One with the same bytes
    may be there.
    """
    if not is_recording(file):
        return None
    recording = read_recording(file)
    with recording.trace():
        pass  # what cannot be read is not kept
    kept = _kept(file, directory) if (directory := room()) else None
    shown = shlex.quote(printable(str(kept or file)))
    next_lines = (
        *(() if kept else (f"wblab open {shown} --keep    # copy it to the other results",)),
        f"wblab why {shown}    # who stalled, and why",
        f"wblab timeline {shown}",
        f"wblab study {shown}    # a small guest like that machine",
        f"wblab advise --machine {shown}    # and what to set there",
    )
    where = (f"kept as {printable(str(kept))}",) if kept else ()
    return Report(
        title="",
        headline=_headline(file, recording),
        blocks=(*where, Lines(next_lines)),
        data={
            "file": str(file),
            "kind": "recording",
            "who": printable(recording.who),
            "stall_ms": recording.stall_ms,
            "kernel": printable(recording.pieces.uname),
            "trace_bytes": _trace_bytes(recording),
            "kept": str(kept or ""),
        },
    )


def _headline(file: Path, recording: Recording) -> str:
    what = f"{size(_trace_bytes(recording))} of trace and {len(recording.facts)} facts of a machine"
    kernel = recording.pieces.uname.split()[:3]
    release = f" with Linux {kernel[2]}" if len(kernel) == 3 else ""
    who = f", where {recording.who} stalled for {duration(recording.stall_ms * NS_PER_MS)}" if recording.who else ""
    return printable(f"{file.name} is a recorder's: {what}{release}{who}.")


def _trace_bytes(recording: Recording) -> int:
    return sum(map(len, recording.pieces.pages))


def _kept(file: Path, directory: Path) -> Path:
    """Copy a file into a directory and return the copy. Raises InputError."""
    target = directory / file.name
    try:
        if os.path.lexists(target):
            if _digest(target) == _digest(file):
                return target
            raise InputError(f"{target} is another file of that name: rename {file.name}")
        with open_file(file) as source, replace_file(target) as copy:
            while piece := source.read(_PIECE_BYTES):
                copy.write(piece)
    except OSError as error:
        raise InputError(f"cannot keep {file.name} in {str(directory)!r}: {error.strerror}") from None
    return target


def _digest(file: Path) -> str:
    found = hashlib.sha256()
    with open_file(file) as content:
        while piece := content.read(_PIECE_BYTES):
            found.update(piece)
    return found.hexdigest()
