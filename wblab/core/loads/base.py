"""What every load has and is asked for.

`prepare` opens and allocates all that the cycles need and returns the function that runs one cycle.
Between two timestamps (see wblab.core.cycles) there are then only that cycle's own system calls.
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
# control: its pauses are stalls of the environment. innocent: its pauses are the question. Both run until they are
# stopped. offender: ends by itself, and all offenders' end is that of the experiment.
Role = Literal["control", "innocent", "offender"]
# Runs the cycle of a number; True says that it dropped its work instead.
Cycle = Callable[[int], bool | None]
Progress = Callable[[], object]

# A load without an end of its own stops after this many cycles: its buffer takes 8 bytes for each.
MAX_ENDLESS_CYCLES = 100_000
MAX_CYCLES = 1 << 22  # each takes 8 bytes of locked memory
# So far away that it does not come, and a number of the same size as one that does: then a run in which a load is
# stopped is, up to that moment, the same to the bit as the one in which it is not.
NEVER = Nanoseconds(10**15)


@dataclass(frozen=True, kw_only=True)
class Load:
    """What all loads have in common.

    start: delay of the first cycle after the common start of the loads. until: when, after the common start, a guest
    stops the load where it stands, for good; its process stays, so that no memory becomes free.
    disk: the name of the disk that it writes to, in a spec that has several; empty, the first.
    ioclass, iolevel: I/O priority, as in ioprio_set(2); level 0 (highest) to 7 counts in two of the classes.

    Of a kind: sleeps_first says that a cycle sleeps before it works and not after; has_pauses, that a cycle which takes
    longer than the load sleeps was stopped, where otherwise it is a span of work; waits_for_disk, that it waits in each
    cycle by design, so that how many it gets done counts too; maps_files, that in the end it is noted where its files
    lie on the disk; needs_lab, that it needs programs of the host besides the guest's own.
    """

    kind: ClassVar[str]
    role: ClassVar[Role] = "innocent"
    sleeps_first: ClassVar[bool] = False
    has_pauses: ClassVar[bool] = True
    waits_for_disk: ClassVar[bool] = False
    maps_files: ClassVar[bool] = False
    needs_lab: ClassVar[bool] = False
    raw: ClassVar[bool] = False

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
    def is_cut(self) -> bool:
        """Whether it is to be stopped where it stands."""
        return self.until < NEVER

    @property
    def capacity(self) -> int:
        """The largest number of cycles that this load can run."""
        return MAX_ENDLESS_CYCLES

    @property
    def description(self) -> str:
        """What the load does, in words."""
        return self.kind

    @property
    def cycle_bytes(self) -> Bytes:
        """How much one cycle writes; 0 where it is not known, or nothing."""
        return Bytes(0)

    @property
    def files(self) -> dict[str, Bytes]:
        """How much the load's files take, by file; none where it writes more and more until it is stopped."""
        return {}

    @property
    def written_bytes(self) -> Bytes:
        """How much it writes before it ends by itself; 0 of one that is stopped."""
        return Bytes(self.capacity * self.cycle_bytes if self.ends else 0)

    def check(self, path: str = "") -> None:
        """Raise InputError for a load that cannot run; `path` stands before its keys in the message."""
        if self.start < 0:
            raise InputError(f"{path}start: {self.start} is negative")
        if self.until <= 0:
            raise InputError(f"{path}until: {self.until} is not after the loads' start")
        check_iolevel(path, self.iolevel)

    def idle_ns(self, number: int) -> int:
        """The part of cycle `number`, in ns, that the load spends asleep by its own will."""
        raise NotImplementedError

    def lay_out(self, mount: Path, progress: Progress = lambda: None) -> None:
        """Make the files that the load expects, where they are missing; `progress` is called again and again.

        A guest does so before the loads start. Raises OSError.
        """

    def prepare(self, mount: Path, draws: Random) -> Cycle:
        """Return what runs cycle `number`, on the filesystem at `mount`; what it leaves to chance, it draws.

        Both raise OSError.
        """
        raise NotImplementedError

    def finish(self, cycle: Cycle) -> None:
        """End what `prepare` began besides its cycles, such as a process. Raises OSError."""


@dataclass(frozen=True, kw_only=True)
class Periodic(Load):
    """Does its work and sleeps for `idle`, again and again until it is stopped."""

    idle: Nanoseconds

    def check(self, path: str = "") -> None:
        super().check(path)
        check_idle(f"{path}idle", self.idle)

    def idle_ns(self, number: int) -> int:
        return self.idle
