"""Event and field names that differ between kernel series, found in the trace's formats and never by version number.

Each of the lab's names is listed with the kernels' names, newest first (include/trace/events/writeback.h).
"""

import tracecmd

from wblab.analysis.runs.run import Run
from wblab.core.spec import Spec
from wblab.core.units import NS_PER_S

# The disks of a run: their devices, and when writeback to them finished.


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


# 6.12 has bdi_*, 7.3 has wb_*.
FIELDS = {
    "wb_setpoint": ("wb_setpoint", "bdi_setpoint"),
    "wb_dirty": ("wb_dirty", "bdi_dirty"),
}
# Pages became folios in 5.17 and 5.18.
EVENTS = {
    "writeback_dirty_folio": ("writeback_dirty_folio", "writeback_dirty_page"),
    "folio_wait_writeback": ("folio_wait_writeback", "wait_on_page_writeback"),
}


def event_name(trace: tracecmd.TraceFile, name: str) -> str | None:
    """Return the traced kernel's name of an event; None if it has no such event."""
    known = {key.partition(":")[2] for key in trace.formats}
    return next((each for each in EVENTS.get(name, (name,)) if each in known), None)


def field_name(events: tracecmd.Events, name: str) -> str | None:
    """Return the traced kernel's name of a field of an event; None if it has no such field."""
    return next((each for each in FIELDS.get(name, (name,)) if each in events), None)
