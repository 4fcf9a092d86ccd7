"""The timeline of a run: panes on one time axis, the loads one above the other."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from wblab.core.errors import InputError, WblabError
from wblab.core.units import format_bytes, format_time
from wblab.data.pauses import DEFAULT_BOUND_NS
from wblab.data.run import LoadCycles, Run
from wblab.plot.loads import describe, plot_control, plot_load
from wblab.plot.style import CYCLE, DPI, GRID, MARK, OFFENDER, PANE_HEIGHT_IN, PAUSE, WIDTH_IN

FORMATS = (".png", ".svg", ".pdf")
_HEADROOM = 1.35  # above the longest cycle, for its name
_LABEL_WIDTH = 0.07  # of the axis: what "l1 starts" takes
_LEAST_TOP_S = 0.5  # so that a run without pauses does not look like one with


@dataclass(frozen=True)
class Pane:
    """One pane: its title (a name and what it shows), its height relative to others, and what draws it."""

    name: str
    what: str
    draw: Callable[[Axes], object]
    height: float = 1.0


def timeline(run: Run, bound_ns: int = DEFAULT_BOUND_NS) -> Figure:
    """Return the figure of a run: control loads first, then the others; pauses over `bound_ns` stand out."""
    return draw_panes(run, [*control_panes(run), *load_panes(run, bound_ns)], bound_ns)


def control_panes(run: Run) -> list[Pane]:
    """Return a pane for each control load."""
    controls = [item for item in run.loads if item.load.kind == "control"]
    return [Pane(item.name, describe(item), _control(run, item), 0.7) for item in controls]


def load_panes(run: Run, bound_ns: int) -> list[Pane]:
    """Return a pane for each other load, all with one scale, so that their heights can be compared."""
    loads = [item for item in run.loads if item.load.kind != "control"]
    cycles_s = [float(item.durations_ns[0 if item.load.innocent else 1 :].max(initial=0)) / 1e9 for item in loads]
    top_s = max(_LEAST_TOP_S, _HEADROOM * max(cycles_s, default=0.0))
    return [Pane(item.name, describe(item), _load(run, item, bound_ns, top_s)) for item in loads]


def draw_panes(run: Run, panes: Sequence[Pane], bound_ns: int = DEFAULT_BOUND_NS) -> Figure:
    """Return a figure of panes that share the run's time axis, with a line where each offender starts."""
    heights = [pane.height for pane in panes]
    figure = Figure(figsize=(WIDTH_IN, 1.1 + PANE_HEIGHT_IN * sum(heights)), dpi=DPI, layout="constrained")
    FigureCanvasAgg(figure)
    rows = figure.subplots(len(panes), 1, sharex=True, squeeze=False, height_ratios=heights)[:, 0]
    for pane, ax in zip(panes, rows, strict=True):
        pane.draw(ax)
        ax.set_title(pane.name, loc="left", fontsize=10, fontweight="bold", pad=3)
        _explain(pane, ax)
        ax.grid(color=GRID, linewidth=0.5)
        ax.set_axisbelow(True)
        ax.spines[["top", "right"]].set_visible(False)
        mark_offenders(run, ax)
    last_s = max(int(item.boundaries_ns[-1]) - run.zero_ns for item in run.loads) / 1e9
    rows[-1].set_xlim(0, last_s)
    rows[-1].set_xlabel("time since the loads started (s)")
    _name_offenders(run, rows[0], last_s)
    _explain_colours(figure, bound_ns)
    figure.suptitle(title(run), fontsize=11, color=PAUSE if run.failure else "black")
    return figure


def start_labels(starts_s: dict[str, float], span_s: float) -> list[tuple[float, str]]:
    """Return where to say which offenders start (s) and the words; those too close to be told apart share theirs."""
    groups: list[dict[str, float]] = []
    for name, start_s in sorted(starts_s.items(), key=lambda start: start[1]):
        if groups and start_s - max(groups[-1].values()) < _LABEL_WIDTH * span_s:
            groups[-1][name] = start_s
        else:
            groups.append({name: start_s})
    return [(max(group.values()), f"{', '.join(group)} start{'s' if len(group) == 1 else ''}") for group in groups]


def mark_offenders(run: Run, ax: Axes) -> Axes:
    """Draw a dashed vertical line where each offender starts to write."""
    for start_ns in run.offender_starts_ns().values():
        ax.axvline((start_ns - run.zero_ns) / 1e9, color=MARK, linestyle="--", linewidth=1)
    return ax


def title(run: Run) -> str:
    """Return what a reader must know of a run, in one line; in a second, why it failed."""
    disk, clock = run.spec.disk, run.spec.clock.mode
    kernel = run.record.get("kernel")
    release = kernel.get("release", "unknown") if isinstance(kernel, dict) else "unknown"
    speed = f"{disk.model} disk of {format_bytes(disk.write_bps)}/s"
    latency = f" and {format_time(disk.latency)}" if disk.latency else ""
    options = f" ({', '.join(disk.mount_options)})" if disk.mount_options else ""
    return (
        f"{run.path.name.lstrip('_')}: Linux {release}, {disk.filesystem}{options} on a {speed}{latency}, "
        f"{clock} clock, seed {run.spec.seed}" + (f"\nthis run did not succeed: {run.failure}" if run.failure else "")
    )


def save(figure: Figure, run: Run, path: Path) -> None:
    """Write a figure; the suffix says how. Its metadata name the run, and nothing in it depends on the day.

    Raises InputError for another suffix, WblabError when the file cannot be written.
    """
    suffix = path.suffix.lower()
    if suffix not in FORMATS:
        raise InputError(f"cannot draw {str(path)!r}: its name must end in {', '.join(FORMATS)}")
    metadata = {"Title": run.path.name} | {".png": {}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}[suffix]
    try:
        with rc_context({"svg.hashsalt": run.path.name}):  # else the ids of elements are random
            figure.savefig(path, metadata=metadata)
    except OSError as error:
        raise WblabError(f"cannot write {path}: {error.strerror}") from None


def _name_offenders(run: Run, ax: Axes, span_s: float) -> None:
    starts_s = {name: (start_ns - run.zero_ns) / 1e9 for name, start_ns in run.offender_starts_ns().items()}
    for start_s, text in start_labels(starts_s, span_s):
        ax.annotate(
            text,
            (start_s, 1),
            xycoords=("data", "axes fraction"),
            xytext=(4, -2),
            textcoords="offset points",
            va="top",
            fontsize=9,
            color=MARK,
        )


def _explain(pane: Pane, ax: Axes) -> None:
    """Write what a pane shows beside its name; a bold letter of that is about 8 points wide."""
    beside = (8 * (len(pane.name) + 1), 3)
    ax.annotate(
        pane.what,
        (0, 1),
        beside,
        xycoords="axes fraction",
        textcoords="offset points",
        va="baseline",
        color=MARK,
        fontsize=9,
    )


def _explain_colours(figure: Figure, bound_ns: int) -> None:
    meanings = {
        CYCLE: "cycles of an innocent load",
        OFFENDER: "cycles of an offender",
        PAUSE: f"paused for over {format_time(bound_ns)}",
    }
    patches = [Patch(color=colour, label=label) for colour, label in meanings.items()]
    figure.legend(handles=patches, loc="outside lower right", ncols=len(patches), frameon=False, fontsize=9)


def _control(run: Run, item: LoadCycles) -> Callable[[Axes], object]:
    return lambda ax: plot_control(item, run.zero_ns, ax=ax)


def _load(run: Run, item: LoadCycles, bound_ns: int, top_s: float) -> Callable[[Axes], object]:
    def draw(ax: Axes) -> None:
        plot_load(item, run.zero_ns, bound_ns, ax=ax)
        ax.set_ylim(0, top_s)

    return draw
