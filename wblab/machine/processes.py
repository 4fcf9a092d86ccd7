"""Identify processes and threads."""

import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Identity:
    """Fields of /proc/PID/stat, proc(5). `start_ticks` tells a process from a later one with the same number."""

    name: str
    state: str
    parent: int
    session: int
    flags: int
    start_ticks: int


def identify(task: int) -> Identity | None:
    """Return the identity of a process or thread; None if it is gone."""
    try:
        text = Path(f"/proc/{task}/stat").read_bytes()
    except OSError:
        return None
    before, _, after = text.rpartition(b")")  # a name may contain spaces and brackets
    fields = after.split()
    name = before.partition(b"(")[2].decode(errors="replace")
    return Identity(name, fields[0].decode(), int(fields[1]), int(fields[3]), int(fields[6]), int(fields[19]))


def threads(pid: int) -> list[int]:
    """Return the threads of a process; none if it is gone."""
    try:
        return [int(name) for name in os.listdir(f"/proc/{pid}/task")]
    except OSError:
        return []
