"""This machine's current settings, for its twin."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from wblab.core.errors import InputError
from wblab.core.loads import Load
from wblab.core.spec import Disk
from wblab.live.advise.machinesite import MachineSite, own_limit_of, queue_of
from wblab.live.advise.settings import NUMBERS, SCHEDULER
from wblab.live.runs.request import BESIDES, INNOCENT
from wblab.live.twin.described import TIMES_THRESHOLD, WAIT_NS, Machine, sustained_bps
from wblab.machine.block import dirty_settings, memory_bytes, thresholds

# One appends, one creates files, one commits.
DEFAULT_LOADS: dict[str, Load] = INNOCENT | {"k1": BESIDES["k1"]}
_TIMERS = ("vm.dirty_expire_centisecs", "vm.dirty_writeback_centisecs")
_SYSCTL, _BLOCK, _BDI = Path("/proc/sys"), Path("/sys/block"), Path("/sys/class/bdi")


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
        names = [_chosen((_BLOCK / disk / "queue/scheduler").read_text()) for disk in site.disks]
        return replace(
            machine,
            background_bytes=limits["background"],
            dirty_bytes=limits["dirty"],
            scheduler=",".join(dict.fromkeys(names)),
            timers={key: int(settings[key]) for key in _TIMERS if key in settings},
            queue=queue_of(site),
            own_limit=own_limit_of(site),
        )
    except (OSError, ValueError) as error:
        raise InputError(f"cannot read this machine's settings: {error}") from None


def _thresholds() -> dict[str, int]:
    """Return this machine's dirty thresholds, in bytes. Raises InputError."""
    limits = thresholds()
    if not {"background", "dirty"} <= set(limits):
        raise InputError("/proc/vmstat does not show the dirty thresholds: Linux 2.6.37 and later do")
    return limits


def _chosen(text: str) -> str:
    """Return the scheduler in use, from text such as `none [mq-deadline] bfq`."""
    return next((word.strip("[]") for word in text.split() if word.startswith("[")), text.strip())


def sysctl_path(key: str) -> Path:
    """Return the file of a sysctl such as vm.dirty_bytes."""
    return _SYSCTL.joinpath(*key.split("."))


def paths(where: str, key: str, site: MachineSite) -> Sequence[Path]:
    """Return the files of a setting: one for each disk's queue, one for a sysctl or the bdi, none for a slice.

    Raises InputError for a setting that no remedy has, because it could name any file.
    """
    if (where, key) not in (*NUMBERS, SCHEDULER):
        raise InputError(f"the study's file is damaged: no remedy sets {where} {key!r}: make a new study")
    if where == "sysctl":
        return [sysctl_path(key)]
    if where == "queue":
        return [_BLOCK / disk / "queue" / key for disk in site.disks]
    return [_BDI / site.bdi / key] if where == "bdi" else []


def shown_by(path: Path) -> Path:
    """Return the file that shows a setting's value: while vm.dirty_ratio is in force, vm.dirty_bytes is 0.

    Raises OSError.
    """
    if path.name in ("dirty_bytes", "dirty_background_bytes") and path.read_text().strip() == "0":
        return path.with_name(path.name.replace("bytes", "ratio"))
    return path
