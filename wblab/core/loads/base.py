"""The base class of loads.

`prepare` opens and allocates everything that the cycles need, and returns the function that runs one cycle. Between two
timestamps (see wblab.core.cycles) there are then only the system calls of one cycle.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import ClassVar, Literal

from wblab.core.errors import InputError
from wblab.core.parameters import check_idle, check_iolevel
from wblab.core.units import Bytes, Nanoseconds

IoClass = Literal["none", "realtime", "best-effort", "idle"]
# control: its pauses are stalls of the machine. innocent: its pauses are what a run measures. Both run until they are
# stopped. offender: ends by itself; the run ends with the last offender.
Role = Literal["control", "innocent", "offender"]
# Runs the cycle with this number; returns True if it dropped its work.
Cycle = Callable[[int], bool | None]
Progress = Callable[[], object]

# The limit of cycles for a load that does not end by itself: its buffer needs 8 bytes for each.
MAX_ENDLESS_CYCLES = 100_000
MAX_CYCLES = 1 << 22  # each needs 8 bytes of locked memory
# Later than any run, but as large an object as a real time. So a run in which a load is stopped is, up to that moment,
# identical to the bit to the run in which it is not.
NEVER = Nanoseconds(10**15)


@dataclass(frozen=True, kw_only=True)
class Load:
    """A load: one program of an experiment.

    start: delay of the first cycle after the common start of the loads.
    until: when the guest stops the load for good, after the common start. Its process stays, so no memory is freed.
    disk: the name of the disk that it uses; empty: the first.
    ioclass, iolevel: I/O priority, as in ioprio_set(2). The level, 0 (highest) to 7, counts in two of the classes.

    Each kind sets:
    sleeps_first: a cycle sleeps before it works, not after.
    has_pauses: a cycle longer than its sleep counts as a pause.
    waits_for_disk: it waits for the disk in each cycle by design, so its cycle rate counts too.
    maps_files: the places of its files on the disk are recorded at the end.
    needs_lab: it runs programs of the host besides the guest's own.
    raw: it works on a device without a filesystem. on_disk: it works on a disk at all.
    """

    kind: ClassVar[str]
    role: ClassVar[Role] = "innocent"
    sleeps_first: ClassVar[bool] = False
    has_pauses: ClassVar[bool] = True
    waits_for_disk: ClassVar[bool] = False
    maps_files: ClassVar[bool] = False
    needs_lab: ClassVar[bool] = False
    raw: ClassVar[bool] = False
    on_disk: ClassVar[bool] = True

    start: Nanoseconds = Nanoseconds(0)
    until: Nanoseconds = NEVER
    disk: str = ""
    ioclass: IoClass = "none"
    iolevel: int = 4

    @property
    def ends(self) -> bool:
        """Whether the load ends by itself, after `capacity` cycles."""
        return self.role == "offender"

    @property
    def has_until(self) -> bool:
        """Whether the guest stops it at the time `until`."""
        return self.until < NEVER

    @property
    def capacity(self) -> int:
        """The largest number of cycles that this load can run."""
        return MAX_ENDLESS_CYCLES

    @property
    def description(self) -> str:
        """What the load does, in a few words."""
        return self.kind

    @property
    def cycle_bytes(self) -> Bytes:
        """How much one cycle writes; 0 if nothing, or unknown."""
        return Bytes(0)

    @property
    def held_bytes(self) -> Bytes:
        """How much memory of its own it takes before its first cycle, beside what any program takes."""
        return Bytes(0)

    @property
    def files(self) -> dict[str, Bytes]:
        """The sizes of the load's files, by name; empty if they grow until the load is stopped."""
        return {}

    @property
    def written_bytes(self) -> Bytes:
        """How much it writes until it ends by itself; 0 for a load that is stopped."""
        return Bytes(self.capacity * self.cycle_bytes if self.ends else 0)

    def check(self, path: str = "") -> None:
        """Raise InputError for a load that cannot run; `path` is the prefix of its keys in messages."""
        if self.start < 0:
            raise InputError(f"{path}start: {self.start} is negative: give 0 or more")
        if self.until <= 0:
            raise InputError(f"{path}until: {self.until} is not after the loads' start: give more than 0")
        check_iolevel(path, self.iolevel)

    def idle_ns(self, number: int) -> int:
        """Return the intended sleep in cycle `number`, in ns."""
        raise NotImplementedError

    def lay_out(self, mount: Path, progress: Progress = lambda: None) -> None:
        """Make the load's missing files, before the loads start; call `progress` from time to time. Raises OSError."""

    def prepare(self, mount: Path, draws: Random) -> Cycle:
        """Return the function that runs cycle `number` on the filesystem at `mount`. Both raise OSError.

        draws: where the load takes its random numbers from.
        """
        raise NotImplementedError

    def finish(self, cycle: Cycle) -> None:
        """End what `prepare` started besides the cycles, such as a process. Raises OSError."""


@dataclass(frozen=True, kw_only=True)
class Periodic(Load):
    """Works, then sleeps for `idle`, until it is stopped."""

    idle: Nanoseconds

    def check(self, path: str = "") -> None:
        super().check(path)
        check_idle(f"{path}idle", self.idle)

    def idle_ns(self, number: int) -> int:
        return self.idle
