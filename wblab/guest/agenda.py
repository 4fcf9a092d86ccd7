"""Actions at given times while the loads run: phases, stops of loads and faults of disks.

A phase's file is read only when the phase is due. Until then the guest's memory is byte for byte that of a run without
the phase.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from wblab.core import layout
from wblab.core.copied import Course
from wblab.core.spec import Cgroup, Phase, Priority
from wblab.core.syscalls import set_ioprio
from wblab.core.tables import from_table
from wblab.guest.cgroups import make_cgroups
from wblab.guest.devices import GuestDisk
from wblab.guest.disk import remount
from wblab.guest.due import Agenda, Due
from wblab.guest.loads import Running, halt
from wblab.guest.settings import set_attributes, set_sysctls
from wblab.guest.stacks import begin_faults
from wblab.guest.tree import descendants


@dataclass(frozen=True)
class Phases:
    """The phases of a run, each in a file of its own, which also has the start of the next one.

    cgroups: the mount point of control groups version 2, mounted or not. agenda: gets the next phase.
    """

    disks: Mapping[str, GuestDisk]
    start_ns: int
    running: Sequence[Running]
    cgroups: Path
    agenda: Agenda

    def enter(self, number: int) -> None:
        """Apply a phase's settings, and schedule the next phase. Raises WblabError."""
        entry = json.loads((layout.SCRATCH / layout.phase_file(number)).read_text())
        phase, key = from_table(Phase, entry["phase"], exact=True), f"phase.{entry['name']}."
        set_sysctls(phase.sysctl)
        for disk, attributes in phase.disk.items():
            made, place = self.disks[disk], f"{key}disk.{disk}"
            set_attributes(made.device, attributes, place, made.spec.filesystem)
            if attributes.mount_options:
                remount(made, attributes.mount_options, place)
        for load, priority in phase.load.items():
            self._set_priority(load, priority)
        self._set_cgroups(phase.cgroup, key)
        next_ns = self.start_ns + entry["next_ns"]
        self.agenda.due.append(Due(lambda: next_ns, partial(self.enter, number + 1)))

    def _set_priority(self, load: str, priority: Priority) -> None:
        for process in self._processes(load):
            with suppress(FileNotFoundError, ProcessLookupError):  # it has ended
                for thread in Path(f"/proc/{process}/task").iterdir():
                    set_ioprio(priority.ioclass, priority.iolevel, int(thread.name))

    def _set_cgroups(self, groups: Mapping[str, Cgroup], key: str) -> None:
        for load, joins in make_cgroups(self.disks, groups, self.cgroups, key).items():
            for process in self._processes(load):
                with suppress(ProcessLookupError):  # it has ended
                    joins.write_text(str(process))

    def _processes(self, load: str) -> list[int]:
        return [pid for item in self.running if item.name == load for pid in (item.pid, *descendants(item.pid))]


def agenda(
    disks: Mapping[str, GuestDisk],
    start_ns: int,
    running: Sequence[Running],
    cgroups: Path,
    course: Callable[[], Course],
) -> Agenda:
    """Return the actions of a run. start_ns: CLOCK_MONOTONIC at the loads' start. course: as it is at any moment.

    A stop of each load and a first phase are always among them, if need be at a time that no run reaches: entries cost
    time, so all runs have the same.
    """
    found = Agenda()
    enter = partial(Phases(disks, start_ns, running, cgroups, found).enter, 0)
    found.due = [
        Due(lambda: start_ns, partial(begin_faults, disks.values(), start_ns)),
        Due(lambda: start_ns + course().first_phase_ns, enter),
        *(Due(partial(_stop_ns, start_ns, item.name, course), partial(halt, item)) for item in running),
    ]
    return found


def _stop_ns(start_ns: int, name: str, course: Callable[[], Course]) -> int:
    return start_ns + course().until_ns[name]
