"""What is to be done while the loads run.

What a phase sets is read when it is due, and not before: up to that moment nothing differs, not in a byte of our
memory, from a run without it.
"""

import json
from bisect import insort
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from pathlib import Path

from wblab.core import layout
from wblab.core.loads.base import NEVER
from wblab.core.spec import Cgroup, Phase, Priority, Spec
from wblab.core.syscalls import set_ioprio
from wblab.core.tables import from_table
from wblab.guest.cgroups import make_cgroups
from wblab.guest.devices import device
from wblab.guest.disk import remount
from wblab.guest.loads import Due, Running, halt
from wblab.guest.settings import set_attributes, set_sysctls
from wblab.guest.stacks import begin_faults
from wblab.guest.tree import descendants


@dataclass(frozen=True)
class Phases:
    """The phases of a run, each in a file that also says when the next one begins; due: where that is then put.

    cgroups: where version 2 of the control groups is, or can be.
    """

    spec: Spec
    start_ns: int
    running: Sequence[Running]
    cgroups: Path
    due: deque[Due]

    def enter(self, number: int) -> None:
        """Set what a phase sets, and await the next one. Raises WblabError."""
        told = json.loads((layout.SCRATCH / layout.phase_file(number)).read_text())
        phase, key = from_table(Phase, told["phase"], exact=True), f"phase.{told['name']}."
        set_sysctls(phase.sysctl)
        for disk, attributes in phase.disk.items():
            set_attributes(device(self.spec, disk), attributes, f"{key}disk.{disk}")
            if attributes.mount_options:
                remount(disk, attributes.mount_options, f"{key}disk.{disk}")
        for load, priority in phase.load.items():
            self._give(load, priority)
        self._group(phase.cgroup, key)
        insort(self.due, self.awaited(number + 1, told["next_ns"]), key=attrgetter("time_ns"))

    def awaited(self, number: int, at_ns: int) -> Due:
        """Return that a phase is due, `at_ns` after the loads' start."""
        return Due(self.start_ns + at_ns, partial(self.enter, number))

    def _give(self, load: str, priority: Priority) -> None:
        for process in self._processes(load):
            with suppress(FileNotFoundError, ProcessLookupError):  # it has ended
                for thread in Path(f"/proc/{process}/task").iterdir():
                    set_ioprio(priority.ioclass, priority.iolevel, int(thread.name))

    def _group(self, groups: Mapping[str, Cgroup], key: str) -> None:
        for load, joins in make_cgroups(self.spec, groups, self.cgroups, key).items():
            for process in self._processes(load):
                with suppress(ProcessLookupError):  # it has ended
                    joins.write_text(str(process))

    def _processes(self, load: str) -> list[int]:
        return [pid for item in self.running if item.name == load for pid in (item.pid, *descendants(item.pid))]


def agenda(
    spec: Spec, start_ns: int, running: Sequence[Running], cgroups: Path, first_phase_ns: int = NEVER
) -> deque[Due]:
    """Return what is due after a start of the loads, in ns of CLOCK_MONOTONIC, in the order of its times.

    That each load is stopped at its `until`, and that the first phase begins, is always due, if in a time that does not
    come: what is due takes time.
    """
    due: deque[Due] = deque()
    first = Phases(spec, start_ns, running, cgroups, due).awaited(0, first_phase_ns)
    stopped = [Due(start_ns + item.load.until, partial(halt, item)) for item in running]
    faults = Due(start_ns, partial(begin_faults, spec))
    due.extend([faults, *sorted([first, *stopped], key=attrgetter("time_ns"))])
    return due
