"""One control group for all offenders, and whom a process that was born held descends from."""

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from wblab.core.errors import WblabError
from wblab.live.changes.journal import Journal
from wblab.live.changes.permitted import GROUP
from wblab.machine.cgroup import controllers_of, make_group
from wblab.machine.changes import Change, IoPriority, Membership
from wblab.machine.processes import ProcessIdentity, identify

# Find the held process that another one descends from: a process born held gets back that one's earlier setting.

Held = TypeVar("Held", IoPriority, Membership)


def origin_of(held: list[Held], pid: int, identity: ProcessIdentity) -> Held | None:
    """Return the change of the held process that `pid` descends from; None if no process is held.

    That is the process itself, or else its parent, or else the oldest held process of its session. A daemon that lost
    its parent and left its session has no trace of its origin: it gets the most frequent earlier setting.
    """
    for is_origin in (
        lambda change: change.pid == pid,
        lambda change: change.pid == identity.parent,
        lambda change: change.session == identity.session,
    ):
        if found := list(filter(is_origin, held)):
            return min(found, key=lambda change: change.start_ticks)
    counts = Counter(change.old for change in held)
    return max(held, key=lambda change: counts[change.old], default=None)


@dataclass
class ControlGroup:
    """Moves processes to one control group with the given `settings`.

    The group lies directly under the root. A group that has processes of its own cannot have children with controllers
    ("no internal processes", Documentation/admin-guide/cgroup-v2.rst), and a deeper group may belong to a user. So a
    held process is not charged to its service or session meanwhile.
    """

    journal: Journal
    root: Path | None
    controllers: tuple[str, ...]
    settings: Callable[[str, float], dict[str, str]]  # files and their content, for a disk and its bandwidth
    lasting = False
    shared = True

    @property
    def group(self) -> Path:
        """The group's directory."""
        assert self.root
        return self.root / GROUP

    def check(self, disk: str) -> None:
        """See Measure."""
        if self.root is None:
            raise WblabError("no cgroup v2 on this machine: mount it, or choose another policy")
        for controller in self.controllers:
            if controller not in controllers_of(self.root):
                raise WblabError(
                    f"cgroup v2 ({self.root}) has no {controller} controller here, perhaps because version 1 has it: "
                    "boot with cgroup_no_v1=all, or choose another policy"
                )
        if not os.access(self.root / "cgroup.subtree_control", os.W_OK):
            raise WblabError(
                f"the daemon may not write to cgroup v2 ({self.root}): see misc/systemd/wblab-mitigate.service, "
                "or choose another policy"
            )

    def start(self, disk: str, bandwidth: float) -> None:
        """See Measure."""
        make_group(self.group, self.controllers, self.journal)
        settings = {self.group / name: value for name, value in self.settings(disk, bandwidth).items()}
        present = [path for path in settings if path.exists()]
        if not present:
            raise WblabError(f"the kernel has no {' and no '.join(map(str, settings))}: choose another policy")
        for path in present:
            path.write_text(settings[path])

    def hold(self, pid: int) -> int:
        """See Measure."""
        if any(change.pid == pid for change in self._held()):
            return 0
        change = self._change(pid)
        if change is None:
            return 0
        self.journal.note(change)
        with suppress(ProcessLookupError):
            (self.group / "cgroup.procs").write_text(str(pid))
        return 1

    def strays(self, lineage: Sequence[Change]) -> Iterator[Change]:
        """Yield changes for processes in the group that the journal does not have: they were born there."""
        if self.root is None or not self.group.exists():
            return
        held = {(change.pid, change.start_ticks) for change in self._held()}
        ancestors = [change for change in lineage if isinstance(change, Membership)]
        for pid in map(int, (self.group / "cgroup.procs").read_text().split()):
            identity = identify(pid)
            if identity and (pid, identity.start_ticks) not in held:
                origin = origin_of(ancestors, pid, identity)
                yield self._noted(pid, origin.old if origin else str(self.root))

    def _change(self, pid: int) -> Membership | None:
        with suppress(OSError):
            old = str(self._group_of(pid))
            if old == str(self.group) and (identity := identify(pid)):  # born there
                origin = origin_of(self._held(), pid, identity)
                old = origin.old if origin else str(self.root)
            return self._noted(pid, old)
        return None

    def _noted(self, pid: int, old: str) -> Membership:
        identity = identify(pid)
        if identity is None:
            raise ProcessLookupError
        return Membership(
            pid=pid, session=identity.session, start_ticks=identity.start_ticks, old=old, new=str(self.group)
        )

    def _held(self) -> list[Membership]:
        return [change for change in self.journal.changes if isinstance(change, Membership)]

    def _group_of(self, pid: int) -> Path:
        assert self.root
        for line in Path(f"/proc/{pid}/cgroup").read_text().splitlines():
            if line.startswith("0::"):
                return self.root / line[len("0::/") :].removesuffix(" (deleted)")
        return self.root
