"""Runs before and after a change of a machine, as one table. No interval: a live machine is not repeated by seeds."""

from collections.abc import Callable, Sequence
from statistics import median

from wblab.analysis.runs.pauses import LoadPauses, PauseReport
from wblab.analysis.runs.run import Run
from wblab.core.loads import KINDS, Load
from wblab.lab.livespec import LiveSpec
from wblab.lab.tables import Table
from wblab.report.quantities import quantity, span

_HEADS = ("load", "longest pause: before", "after", "wait time: before", "after", "duration: before", "after")
_SPARE = (3, 4)  # columns dropped on a narrow terminal


def before_after(before: Sequence[PauseReport], after: PauseReport) -> Table:
    """Return a row for each load: of several runs before, the median and the range."""
    rows = []
    for load in after.loads:
        others = [other for report in before for other in report.loads if other.name == load.name]
        offends = KINDS.get(load.kind, Load).role == "offender"
        figures: list[Callable[[LoadPauses], float]] = [
            lambda item: item.longest_pause_s,
            lambda item: item.wait_time_s,
            lambda item: item.duration_s,
        ]
        cells = []
        for number, of in enumerate(figures):
            is_shown = offends == (number == len(figures) - 1)  # an offender works as long as it takes
            cells += [_cell([of(other) for other in others]), _cell([of(load)])] if is_shown else ["-", "-"]
        rows.append((load.name, *cells))
    return Table(rows, _HEADS, frozenset(range(1, len(_HEADS))), _SPARE)


def changed(before: Run, after: Run) -> list[str]:
    """Return the settings of the machine that differ between two runs, as recorded, one line each."""
    one, other = _settings(before), _settings(after)
    keys = [key for key in one | other if key in one and key in other and one[key] != other[key]]
    lines = [f"    {key}: {one[key]} before, {other[key]} after" for key in keys]
    return ["What differs between the machines of the two runs:", *lines] if lines else ["No recorded setting differs."]


def _cell(values_s: Sequence[float]) -> str:
    if not values_s:
        return "-"
    middle = quantity(median(values_s), "s")
    return f"{middle} ({span(min(values_s), max(values_s), 's')})" if len(values_s) > 1 else middle


def _settings(run: Run) -> dict[str, str]:
    if not isinstance(run.spec, LiveSpec):
        return {}
    found = {key: str(value) for key, value in run.spec.sysctl.items()} | {"scheduler": run.spec.disk.scheduler}
    queues = (run.record.get("live") or {}).get("queues")
    for disk, queue in (queues if isinstance(queues, dict) else {}).items():
        found |= {f"{disk}: {key}": str(value) for key, value in (queue if isinstance(queue, dict) else {}).items()}
    return found
