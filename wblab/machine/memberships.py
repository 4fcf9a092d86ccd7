"""Which control group each task of this machine is in."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_MOST_TASKS = 50_000  # that are looked at
ROOT = "/"
_MEMORY = "memory"  # of version 1, where it is the group that a task's dirty pages count for


def tasks_by_group(proc: Path = Path("/proc")) -> dict[str, tuple[int, ...]]:
    """Return the ids of tasks by the path of their control group, as /proc/PID/cgroup writes it (cgroups(7)).

    Tasks in the root group are left out, and with them all kernel threads; so is a task that ends meanwhile.
    """
    found: dict[str, list[int]] = {}
    for seen, task in enumerate(_tasks(proc)):
        if seen >= _MOST_TASKS:
            break
        with suppress(OSError):
            group = group_of((task / "cgroup").read_text(errors="replace"))
            if group != ROOT:
                found.setdefault(group, []).append(int(task.name))
    return {group: tuple(sorted(tasks)) for group, tasks in sorted(found.items())}


def _tasks(proc: Path) -> Iterator[Path]:
    for process in sorted(name for name in os.listdir(proc) if name.isdecimal()):
        with suppress(OSError):
            for name in os.listdir(proc / process / "task"):
                yield proc / process / "task" / name


def group_of(text: str) -> str:
    """Return the group in the text of a file /proc/PID/cgroup: lines of number, controllers and path.

    Of version 2, or of version 1 that of the controller memory, as dirty pages count for it; else the root group.
    """
    lines = [line.split(":", 2) for line in text.splitlines() if line.count(":") > 1]
    paths = {controller: path for _, controllers, path in lines for controller in controllers.split(",")}
    whole = paths.get("", ROOT)
    return whole if whole != ROOT else paths.get(_MEMORY, ROOT)
