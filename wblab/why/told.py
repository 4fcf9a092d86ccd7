"""All pauses of a run explained, whatever recorded them: the trace of a guest's run, or the captures of a live one."""

from dataclasses import dataclass

from wblab.core.errors import InputError
from wblab.data.captures import Capture, captures
from wblab.data.pagecache import PageCache
from wblab.data.pauses import DEFAULT_BOUND_NS
from wblab.data.run import Run
from wblab.lab.livespec import LiveSpec
from wblab.why.explain import Explanation, explain
from wblab.why.recorded import Recorded, explains, read_recorded


@dataclass(frozen=True)
class Told:
    """An explanation, and what was recorded that it is read from."""

    explanation: Explanation
    recorded: Recorded


def explanations(run: Run, load: str = "", bound_ns: int = DEFAULT_BOUND_NS) -> list[Told]:
    """Return why each pause over a bound was, of one load or of all that are not offenders, in the order of time.

    A pause of a live run is told by the capture that covers the most of it; what none covers is unknown. Raises
    InputError where nothing was recorded that explains a pause.
    """
    if not isinstance(run.spec, LiveSpec):
        recorded = read_recorded(run)
        return [Told(item, recorded) for item in explain(run, recorded, load, bound_ns)]
    saved = captures(run)
    if not saved:
        raise InputError(f"{run.path} has no capture of a pause: make it again as root, with --capture-pauses 200ms")
    told = [_told(run, capture, load, bound_ns) for capture in saved]
    return [max(each, key=lambda item: _covered_ns(run, item)) for each in zip(*told, strict=True)]


def explain_all(run: Run, cache: PageCache) -> list[Explanation]:
    """Return why each pause over the default bound was, of all loads; nothing where that was not recorded.

    cache: the run's trace. Raises InputError for a damaged trace.
    """
    if isinstance(run.spec, LiveSpec):
        found = [told for item in run.loads for told in explanations(run, item.name)] if captures(run) else []
        return [told.explanation for told in found]
    if not explains(cache):
        return []
    recorded = read_recorded(run, cache=cache)
    return [found for item in run.loads for found in explain(run, recorded, item.name)]


def _told(run: Run, capture: Capture, load: str, bound_ns: int) -> list[Told]:
    recorded = read_recorded(run, capture)
    return [Told(item, recorded) for item in explain(run, recorded, load, bound_ns)]


def _covered_ns(run: Run, item: Told) -> int:
    span_ns = (item.explanation.start_ns + run.zero_ns, item.explanation.end_ns + run.zero_ns)
    start_ns, end_ns = item.recorded.covered(*span_ns)
    return end_ns - start_ns
