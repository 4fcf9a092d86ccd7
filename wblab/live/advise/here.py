"""This machine's current settings, for its twin."""

from collections.abc import Mapping
from dataclasses import replace

from wblab.core.errors import InputError
from wblab.core.loads import Load
from wblab.core.spec import Disk
from wblab.live.advise.machinesite import MachineSite, own_limit_of, queue_of
from wblab.live.advise.settings import paths
from wblab.live.changes.permitted import SCHEDULER
from wblab.live.runs.request import BESIDES, INNOCENT
from wblab.live.twin.described import TIMES_THRESHOLD, WAIT_NS, Machine, sustained_bps
from wblab.machine.block import dirty_settings, memory_bytes, scheduler, thresholds

# One appends, one creates files, one commits.
DEFAULT_LOADS: dict[str, Load] = INNOCENT | {"k1": BESIDES["k1"]}
_TIMERS = ("vm.dirty_expire_centisecs", "vm.dirty_writeback_centisecs")


def machine_here(site: MachineSite, disk: Disk, innocent: Mapping[str, Load]) -> Machine:
    """Describe this machine, with the given model of its disk. Raises InputError."""
    limits = _thresholds()
    machine = Machine(
        memory_bytes=memory_bytes(),
        background_bytes=limits["background"],
        dirty_bytes=limits["dirty"],
        write_bps=sustained_bps(disk),
        filesystem=site.filesystem,
        scheduler="",
        offender_bytes=TIMES_THRESHOLD * limits["dirty"],
        wait_ns=WAIT_NS,
        innocent=dict(innocent),
        disk=disk,
    )
    return with_current_settings(machine, site)


def with_current_settings(machine: Machine, site: MachineSite) -> Machine:
    """Replace a machine's settings by this machine's current ones. Raises InputError."""
    limits = _thresholds()
    try:
        settings = dirty_settings()
        names = [scheduler(path.parents[1]) for path in paths(*SCHEDULER, site)]
        return replace(
            machine,
            background_bytes=limits["background"],
            dirty_bytes=limits["dirty"],
            scheduler=",".join(dict.fromkeys(names)),
            timers={key: int(settings[key]) for key in _TIMERS if key in settings},
            queue=queue_of(site),
            own_limit=own_limit_of(site),
        )
    except (OSError, ValueError, InputError) as error:
        raise InputError(f"cannot read this machine's settings: {error}") from None


def _thresholds() -> dict[str, int]:
    """Return this machine's dirty thresholds, in bytes. Raises InputError."""
    limits = thresholds()
    if not {"background", "dirty"} <= set(limits):
        raise InputError("/proc/vmstat does not show the dirty thresholds: Linux 2.6.37 and later do")
    return limits
