"""The disks of a run: their devices, and when writeback to them finished."""

from wblab.analysis.runs.run import Run
from wblab.core.spec import Spec
from wblab.core.units import NS_PER_S


def disk_names(run: Run) -> dict[str, str]:
    """Return the names of a run's disks by their devices' numbers, major:minor; empty if there is only one disk."""
    return {disk.device: name for name, disk in run.disks.items()} if len(run.disks) > 1 else {}


def unplug_s(run: Run) -> dict[str, float]:
    """Return how long writeback went on after an offender's end, in s: when could its disk be unplugged?

    It is known only if the guest waited for writeback, and only for the offender that ended last.
    """
    offenders = [item for item in run.loads if item.load.role == "offender"]
    if not offenders or not isinstance(run.spec, Spec):
        return {}
    last = max(offenders, key=lambda item: int(item.boundaries_ns[-1]))
    disk = run.disks.get(run.spec.disk_of(last.name))
    if disk is None or not disk.written_ns:
        return {}
    return {last.name: (disk.written_ns - int(last.boundaries_ns[-1])) / NS_PER_S}
