"""The timeline of a run: what each load did, beside what the page cache did."""

from collections.abc import Callable

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from wblab.core.units import format_time
from wblab.data.pagecache import PageCache
from wblab.data.pauses import DEFAULT_BOUND_NS
from wblab.data.rates import event_rates
from wblab.data.run import LoadCycles, Run
from wblab.data.window import Window, cycles_in, whole
from wblab.plot.figure import Pane, View, draw_panes
from wblab.plot.loads import describe, plot_command, plot_control, plot_load
from wblab.plot.pagecache import plot_dirty_state, plot_event_rates, plot_pauses_asked, plot_rate_limits
from wblab.plot.style import LEGEND_ROW_IN, legend_rows

_HEADROOM = 1.35  # above the longest cycle, for its name
_LEAST_TOP_S = 0.5  # so that a run without pauses does not look like one with


def timeline(
    run: Run, cache: PageCache | None = None, bound_ns: int = DEFAULT_BOUND_NS, window: Window | None = None
) -> Figure:
    """Return the figure of a run: control loads first, then the page cache if it was traced, then the other loads.

    Pauses over `bound_ns` stand out. With a window, only that span is drawn, as a close-up.
    """
    lost_ns = cache.lost_ns if cache else ()
    view = View(run, window or whole(run), bound_ns, lost_ns, is_close=window is not None)
    cache_panes = page_cache_panes(view, cache) if cache else []
    return draw_panes(view, [*control_panes(view), *cache_panes, *load_panes(view)])


def control_panes(view: View) -> list[Pane]:
    """Return a pane for each control load."""
    controls = [item for item in view.run.loads if item.load.role == "control"]
    return [Pane(item.name, describe(item), _control(view, item), 0.6) for item in controls]


def page_cache_panes(view: View, cache: PageCache) -> list[Pane]:
    """Return the panes of what was traced; of an event that was not, none."""
    run, window = view.run, view.window
    panes = []
    if cache.counts:
        rates = event_rates(cache, window)
        what = f"per second, by type, in spans of {format_time(rates.bin_ns)}"
        above_in = LEGEND_ROW_IN * (legend_rows(rates.per_s) - 1)
        panes.append(Pane("events", what, lambda ax: plot_event_rates(rates, run.zero_ns, ax=ax), 0.9, above_in))
    state = cache.dirty_state.within(window.start_ns, window.end_ns)
    if len(state):
        what = "of the page cache, against the thresholds"
        panes.append(Pane("dirty state", what, lambda ax: plot_dirty_state(state, run.zero_ns, ax=ax), 2.2))
    throttling = cache.throttling.within(window.start_ns, window.end_ns)
    if len(throttling):
        asked = lambda ax: plot_pauses_asked(throttling, run.zero_ns, ax=ax)  # noqa: E731 - as the others
        panes += [
            Pane("throttling", "pauses that the kernel asks of a task, each a point", asked, 0.8),
            Pane(
                "rate limits",
                "at which tasks may dirty pages; on the lower edge 0, past the dirty limit",
                lambda ax: plot_rate_limits(throttling, run.zero_ns, ax=ax),
                1.1,
            ),
        ]
    return panes


def load_panes(view: View) -> list[Pane]:
    """Return a pane for each other load, all with one scale, so that their heights can be compared."""
    top_s = load_top_s(view)
    present = [item for item in _writing(view) if not view.is_close or _longest_cycle_s(item, view.window)]
    return [
        Pane(item.name, describe(item), _command(view, item), 0.25)
        if not item.load.has_pauses
        else Pane(item.name, describe(item), _load(view, item, top_s), 0.85)
        for item in present
    ]


def load_top_s(view: View) -> float:
    """Return the upper end of the one scale that the panes of loads have."""
    longest_s = (_longest_cycle_s(item, view.window) for item in _writing(view) if item.load.has_pauses)
    return max(_LEAST_TOP_S, _HEADROOM * max(longest_s, default=0.0))


def _writing(view: View) -> list[LoadCycles]:
    return [item for item in view.run.loads if item.load.role != "control"]


def _longest_cycle_s(item: LoadCycles, window: Window) -> float:
    """Return the longest cycle in a window, without an offender's first wait; 0 where there is none."""
    first, last = cycles_in(item, window)
    first = max(first, 1) if item.load.role == "offender" else first
    return float(item.durations_ns[first:last].max(initial=0)) / 1e9


def _control(view: View, item: LoadCycles) -> Callable[[Axes], object]:
    return lambda ax: plot_control(item, view.run.zero_ns, view.window, ax=ax)


def _command(view: View, item: LoadCycles) -> Callable[[Axes], object]:
    return lambda ax: plot_command(item, view.run.zero_ns, ax=ax)


def _load(view: View, item: LoadCycles, top_s: float) -> Callable[[Axes], object]:
    def draw(ax: Axes) -> None:
        plot_load(item, view.run.zero_ns, view.bound_ns, view.window, ax=ax)
        ax.set_ylim(0, top_s)

    return draw
