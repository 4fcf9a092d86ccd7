"""Event and field names that differ between kernel series, found in the trace's formats and never by version number.

Each of the lab's names is listed with the kernels' names, newest first (include/trace/events/writeback.h).
"""

import tracecmd

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
