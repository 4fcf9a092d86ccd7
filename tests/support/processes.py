"""Processes by descent and state, from /proc (proc(5))."""

import os
from contextlib import suppress
from pathlib import Path


def descendants(pid: int) -> dict[int, str]:
    """Return a process's descendants, nearer ones first: names by pid."""
    known = {int(entry): status(int(entry)) for entry in os.listdir("/proc") if entry.isdigit()}
    found: dict[int, str] = {}
    nearest = {pid}
    while nearest:
        nearest = {number for number, (_, _, parent) in known.items() if parent in nearest}
        found |= {number: known[number][0] for number in sorted(nearest)}
    return found


def alive(pid: int) -> bool:
    return status(pid)[1] not in ("", "Z", "X")


def status(pid: int) -> tuple[str, str, int]:
    """Return a process's name, state and parent (proc(5)); empty if it is gone."""
    with suppress(OSError):
        name, _, rest = Path(f"/proc/{pid}/stat").read_text().partition("(")[2].rpartition(")")
        return name, rest.split()[0], int(rest.split()[1])
    return "", "", 0


def bearing(file: str, mark: str) -> dict[int, str]:
    """Return the processes with a mark in this file of theirs, environ or cmdline: names by pid.

    Zombies have neither.
    """
    found = {}
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if mark.encode() in (process / file).read_bytes():
                found[int(process.name)] = (process / "comm").read_text().strip()
    return found
