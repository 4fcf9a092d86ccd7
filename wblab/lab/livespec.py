"""A live run as data: what was found on the machine, what was changed on it, and the loads."""

from dataclasses import dataclass, field

from wblab.core.loads import Load
from wblab.core.spec import Clock, Trace
from wblab.core.units import Bytes, Nanoseconds


@dataclass(frozen=True, kw_only=True)
class HostDisk:
    """What the loads wrote to. device: empty where no block device lies below, as with tmpfs.

    scheduler: of the disks at the bottom, while the loads ran; several, joined by commas.
    """

    device: str = ""
    filesystem: str
    mount_options: tuple[str, ...] = ()
    scheduler: str = ""


@dataclass(frozen=True, kw_only=True)
class LiveSpec:
    """One live run. Names that `Spec` has too mean the same; memory and vm.* settings are the machine's.

    cgroup: files of the command's group, memory.high and the like. tail: how long the loads ran on after the command.
    """

    name: str
    seed: int = 0
    memory: Bytes
    clock: Clock = Clock(mode="real", syscall_cost=Nanoseconds(0))
    disk: HostDisk
    sysctl: dict[str, int | str] = field(default_factory=dict)
    cgroup: dict[str, str] = field(default_factory=dict)
    trace: Trace = Trace()
    tail: Nanoseconds = Nanoseconds(0)
    load: dict[str, Load]

    @property
    def offenders(self) -> list[str]:
        """The names of the loads that end by themselves."""
        return [name for name, load in self.load.items() if load.role == "offender"]
