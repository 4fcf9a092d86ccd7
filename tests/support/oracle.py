"""libtracecmd as the reference: a small C program sums what it reads, and the reader must get the same sums."""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
import tracecmd

_SOURCE = Path(__file__).with_name("oracle.c")
_LIBRARIES = ("libtracecmd", "libtraceevent")
_MASK = (1 << 64) - 1
_PSEUDO = {"#": lambda events: np.ones(len(events), np.uint64), "@ts": lambda events: events.ts_ns}
_PSEUDO |= {"@cpu": lambda events: events.cpu, "@pid": lambda events: events.pid}


def build(directory: Path) -> Path:
    """Compile the program and return it. Skips the test if the libraries are missing."""
    config = [shutil.which("pkg-config") or "false", "--cflags", "--libs", *_LIBRARIES]
    flags = subprocess.run(config, capture_output=True, text=True, check=False)
    if flags.returncode:
        pytest.skip("no pkg-config, or no development files of libtracecmd")
    program = directory / "oracle"
    subprocess.run(["gcc", "-O2", "-Wall", "-o", program, _SOURCE, *flags.stdout.split()], check=True)
    return program


def said(program: Path, trace: Path) -> dict[tuple[str, str, str, str], int]:
    """Return the program's sums by buffer, event, field and kind."""
    result = subprocess.run([program, trace], capture_output=True, text=True, check=True)
    rows = [line.rsplit("|", 4) for line in result.stdout.splitlines() if line.count("|") == 4]
    return {(buffer, event, field, kind): int(value) for buffer, event, field, kind, value in rows}


def read(path: Path, keys: set[tuple[str, str, str, str]]) -> dict[tuple[str, str, str, str], int]:
    """Return the reader's sums for the same keys."""
    with tracecmd.open(path) as trace:
        return {key: _sum(trace, *key) for key in keys}


def events(path: Path) -> set[tuple[str, str]]:
    """Return the events that the reader finds, with their buffers."""
    with tracecmd.open(path) as trace:
        names = {item.id: key for key, item in trace.formats.items()}
        ids = {
            buffer: {trace.events(name, buffer=buffer).format.id for name in trace.counts(buffer)}
            for buffer in trace.info.buffers
        }
        return {(buffer, names[number]) for buffer, numbers in ids.items() for number in numbers}


def _sum(trace: tracecmd.TraceFile, buffer: str, event: str, field: str, kind: str) -> int:
    found = trace.events(event, buffer=buffer)
    column = _PSEUDO.get(field, lambda events: events.field(field))(found)
    if kind == "text":
        texts, counts = np.unique(column.astype(str), return_counts=True)
        return sum(_hash(text) * count for text, count in zip(texts.tolist(), counts.tolist(), strict=True)) & _MASK
    signed = column.dtype.kind == "i"
    wide = column.astype(np.int64).view(np.uint64) if signed else column.astype(np.uint64)
    return int(wide.sum(dtype=np.uint64))


def _hash(text: str) -> int:
    value = 0xCBF29CE484222325  # FNV-1a
    for byte in text.encode():
        value = ((value ^ byte) * 0x100000001B3) & _MASK
    return value
