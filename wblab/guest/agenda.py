"""What is to be done while the loads run."""

from collections.abc import Sequence
from functools import partial

from wblab.core.spec import Spec
from wblab.guest.devices import device
from wblab.guest.loads import Due, Running, halt
from wblab.guest.settings import set_attributes, set_sysctls
from wblab.guest.stacks import begin_faults


def agenda(spec: Spec, start_ns: int, running: Sequence[Running] = ()) -> list[Due]:
    """Return what is due after a start of the loads, in ns of CLOCK_MONOTONIC, in the order of its times.

    That each load is stopped at its `until` is always due, if in a time that does not come: what is due takes time.
    """
    phases = sorted(spec.phase, key=lambda name: spec.phase[name].at)
    entered = [Due(start_ns + spec.phase[name].at, partial(enter, spec, name)) for name in phases]
    stopped = [Due(start_ns + item.load.until, partial(halt, item)) for item in running]
    return [Due(start_ns, partial(begin_faults, spec)), *sorted([*entered, *stopped], key=lambda due: due.time_ns)]


def enter(spec: Spec, name: str) -> None:
    """Set what a phase sets. Raises WblabError."""
    phase = spec.phase[name]
    set_sysctls(phase.sysctl)
    for disk, attributes in phase.disk.items():
        set_attributes(device(spec, disk), attributes, f"phase.{name}.disk.{disk}")
