"""Control groups, version 2: Documentation/admin-guide/cgroup-v2.rst."""

from collections.abc import Iterable
from pathlib import Path

from wblab.machine.block import mounted
from wblab.machine.changes import Controller, MadeGroup, WayBack


def cgroup_root() -> Path | None:
    """Return where cgroup v2 is mounted; None if it is not."""
    return next(iter(mounted("cgroup2")), None)


def controllers_of(group: Path) -> list[str]:
    """Return the controllers that a group can enable for its children. Raises OSError."""
    return (group / "cgroup.controllers").read_text().split()


def make_group(group: Path, controllers: Iterable[str], way_back: WayBack) -> None:
    """Make a group, unless it exists, and enable controllers for it in its parent. Raises OSError."""
    enabled = group.parent / "cgroup.subtree_control"
    for controller in controllers:
        if controller not in enabled.read_text().split():
            way_back.note(Controller(path=str(group.parent), name=controller))
            enabled.write_text(f"+{controller}")
    if not group.exists():
        way_back.note(MadeGroup(path=str(group)))
        group.mkdir()
