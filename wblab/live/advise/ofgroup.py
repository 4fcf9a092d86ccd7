"""The limits of tried remedies for a control group that is there, such as a container's. Nothing here sets them."""

import os
import shlex
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from wblab.core.errors import InputError
from wblab.lab.printable import printable
from wblab.live.advise.files import restoring_commands
from wblab.live.advise.plan import Candidate
from wblab.live.advise.record import Advice
from wblab.live.advise.settings import WantedSetting, paths
from wblab.live.changes.permitted import SCHEDULER
from wblab.machine.cgroup import cgroup_root

_USUAL = Path("/sys/fs/cgroup")
# What a slice calls them (systemd.resource-control(5)): the group's file, and what it holds if nobody has set it.
_FILES = {
    "MemoryHigh": ("memory.high", "max"),
    "IOWriteBandwidthMax": ("io.max", ""),
    "IOWeight": ("io.bfq.weight", ""),
}


def group_at(path: str, *, elsewhere: bool, root: Path | None = None) -> Path:
    """Return the directory of a control group, by its path as /proc/PID/cgroup has it or by the directory itself.

    elsewhere: of another machine, where nobody can look. root: where groups are mounted (default: where they are
    here). Raises InputError if there is none, or if it is the root, which has no limits.
    """
    place = root or (_USUAL if elsewhere else cgroup_root())
    if place is None:
        raise InputError("--cgroup: this machine has no control groups of version 2 (mount -t cgroup2)")
    words = PurePosixPath(path.removeprefix("0::"))
    inside = words.relative_to(place) if words.is_relative_to(place) else PurePosixPath(str(words).lstrip("/"))
    if ".." in inside.parts or not inside.parts:
        raise InputError(f"--cgroup {path!r}: name a group below {place}, such as /system.slice/docker-ID.scope")
    group = place.joinpath(*inside.parts)
    if not elsewhere and not (group / "cgroup.procs").exists():
        raise InputError(
            f"--cgroup {path!r}: there is no control group {group}: cat /proc/PID/cgroup shows a program's"
        )
    return group


def lines_for(group: Path, candidate: Candidate, advice: Advice) -> Iterator[str]:
    """Yield the commands that give a group the limits of a remedy, and after each the one that undoes it.

    Before them come those of the disk that belong to the remedy: a weight counts only with its scheduler, which also
    makes the weight's file.
    """
    limits = [item for item in candidate.wanted if item.where == "slice" and item.key in _FILES]
    besides = [item for item in candidate.wanted if item.where != "slice"] if limits else []
    for item in sorted(besides, key=lambda each: (each.where, each.key) != SCHEDULER):  # it sets the queue anew
        for path in paths(item.where, item.key, advice.site):
            yield printable(f"echo {shlex.quote(item.value)} | sudo tee {shlex.quote(str(path))}")
    yield from (printable(f"{command}    # undoes it") for command in restoring_commands(besides, advice))
    for item in limits:
        yield from _pair(group, item, advice)


def _pair(group: Path, item: WantedSetting, advice: Advice) -> Iterator[str]:
    name, unset = _FILES[item.key]
    value = item.value
    before = unset or f"default {_weight(group)}"
    if name == "io.max":
        if not advice.site.bdi[:1].isdigit():
            return  # no single disk, which the file names by its number
        value = f"{advice.site.bdi} wbps={item.value.split()[-1]}"
        before = f"{advice.site.bdi} wbps=max"
    elif not advice.elsewhere and name == "memory.high":
        before = _held(group / name) or unset
    file = shlex.quote(os.path.join(group, name))
    yield printable(f"echo {shlex.quote(value)} | sudo tee {file}")
    yield printable(f"echo {shlex.quote(before)} | sudo tee {file}    # undoes it")


def _weight(group: Path) -> str:
    """Return the weight that a group has with BFQ: 100 unless somebody has set it."""
    words = _held(group / "io.bfq.weight").split()
    return words[-1] if words and words[-1].isdigit() else "100"


def _held(file: Path) -> str:
    try:
        return file.read_text().strip()
    except OSError:  # no such controller in this group, or another machine's
        return ""
