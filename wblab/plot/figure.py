"""A figure of panes on one time axis, and how it is written."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from wblab.core.errors import InputError, WblabError
from wblab.core.files import replace_file
from wblab.core.spec import Spec
from wblab.core.units import NS_PER_S, format_bytes, format_time
from wblab.data.run import Run
from wblab.data.window import Window, cycles_in
from wblab.lab.livespec import LiveSpec
from wblab.plot.style import CYCLE, DPI, GRID, LOST, MARK, OFFENDER, PANE_HEIGHT_IN, PAUSE, WIDTH_IN, literal

FORMATS = (".png", ".svg", ".pdf")
_LABEL_WIDTH = 0.07  # of the axis: what "l1 starts" takes
MOST_GUIDES = 400  # lines for cycles; more would be a grey wall
# Margins in inches: fixed, as finding them out takes longer than drawing.
_LEFT, _RIGHT, _TOP, _BOTTOM, _BETWEEN = 0.95, 0.2, 0.62, 0.75, 0.32
_LABEL_AT = -0.062  # of a pane's width: the labels of all y axes stand in one line


@dataclass(frozen=True)
class Pane:
    """One pane: its title (a name and what it shows), its height relative to others, and what draws it.

    above_in is free room above it, for a legend with more than one row.
    """

    name: str
    what: str
    draw: Callable[[Axes], object]
    height: float = 1.0
    above_in: float = 0.0


@dataclass(frozen=True)
class View:
    """What all panes of a figure share.

    window: the span that is shown. is_close: then cycles of innocent loads are lines on every pane.
    lost_ns: spans in which events were lost. bound_ns: pauses over it stand out.
    """

    run: Run
    window: Window
    bound_ns: int
    lost_ns: tuple[tuple[int, int], ...] = ()
    is_close: bool = False

    def seconds(self, time_ns: int) -> float:
        """Return a time on the figure's axis."""
        return (time_ns - self.run.zero_ns) / NS_PER_S


def draw_panes(view: View, panes: Sequence[Pane]) -> Figure:
    """Return a figure of panes that share the run's time axis, with a line where each offender starts."""
    heights_in = [PANE_HEIGHT_IN * pane.height for pane in panes]
    height_in = _TOP + _BOTTOM + sum(heights_in) + sum(pane.above_in for pane in panes) + _BETWEEN * (len(panes) - 1)
    figure = Figure(figsize=(WIDTH_IN, height_in), dpi=DPI)
    FigureCanvasAgg(figure)
    place_in = height_in - _TOP
    rows: list[Axes] = []
    for pane, pane_in in zip(panes, heights_in, strict=True):
        place_in -= pane_in + pane.above_in
        box = (_LEFT / WIDTH_IN, place_in / height_in, 1 - (_LEFT + _RIGHT) / WIDTH_IN, pane_in / height_in)
        rows.append(figure.add_axes(box, sharex=rows[0] if rows else None))
        place_in -= _BETWEEN
        _draw(view, pane, rows[-1])
    for ax in rows[:-1]:
        ax.tick_params(labelbottom=False)
    rows[-1].set_xlim(view.seconds(view.window.start_ns), view.seconds(view.window.end_ns))
    rows[-1].set_xlabel("time since the loads started (s)")
    _name_offenders(view, rows[0])
    _explain_colours(view, figure)
    lines = "\n".join(map(literal, title(view.run).splitlines()))
    figure.suptitle(lines, fontsize=11, y=1 - 0.12 / height_in, va="top", color=title_colour(view.run))
    return figure


def _draw(view: View, pane: Pane, ax: Axes) -> None:
    pane.draw(ax)
    name = ax.set_title(pane.name, loc="left", fontsize=10, fontweight="bold", pad=3)
    ax.annotate(
        literal(pane.what),
        (1, 0),
        (6, 0),
        xycoords=name,
        textcoords="offset points",
        va="bottom",
        color=MARK,
        fontsize=9,
    )
    ax.grid(color=GRID, linewidth=0.5)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    ax.yaxis.set_label_coords(_LABEL_AT, 0.5)
    mark_offenders(view.run, ax)
    for start_ns, end_ns in view.lost_ns:
        ax.axvspan(view.seconds(start_ns), view.seconds(end_ns), color=LOST, alpha=0.5, linewidth=0, zorder=0)
    if view.is_close:
        mark_cycles(view, ax)


def mark_offenders(run: Run, ax: Axes) -> Axes:
    """Draw a dashed vertical line where each offender starts to write."""
    for start_ns in run.offender_starts_ns().values():
        ax.axvline((start_ns - run.zero_ns) / NS_PER_S, color=MARK, linestyle="--", linewidth=1)
    return ax


def mark_cycles(view: View, ax: Axes) -> Axes:
    """Draw a thin vertical line where each cycle of an innocent load begins: where there is none, it is stopped."""
    for item in view.run.loads:
        first, last = cycles_in(item, view.window)
        if item.load.role == "innocent" and last - first <= MOST_GUIDES:
            starts_s = [view.seconds(int(start_ns)) for start_ns in item.boundaries_ns[first : last + 1]]
            ax.vlines(starts_s, 0, 1, transform=ax.get_xaxis_transform(), color=CYCLE, linewidth=0.4, alpha=0.45)
    return ax


def start_labels(starts_s: dict[str, float], span_s: float) -> list[tuple[float, str]]:
    """Return where to say which offenders start (s) and the words; those too close to be told apart share theirs."""
    groups: list[dict[str, float]] = []
    for name, start_s in sorted(starts_s.items(), key=lambda start: start[1]):
        if groups and start_s - max(groups[-1].values()) < _LABEL_WIDTH * span_s:
            groups[-1][name] = start_s
        else:
            groups.append({name: start_s})
    return [(max(group.values()), f"{', '.join(group)} start{'s' if len(group) == 1 else ''}") for group in groups]


def title(run: Run) -> str:
    """Return what a reader must know of a run, in one line; in a second, why it failed."""
    kernel = run.record.get("kernel")
    release = kernel.get("release", "unknown") if isinstance(kernel, dict) else "unknown"
    where = _live_machine(run.spec) if isinstance(run.spec, LiveSpec) else _guest_machine(run.spec)
    failure = f"\nthis run did not succeed: {run.failure}" if run.failure else ""
    return f"{run.name.lstrip('_')}: Linux {release}, {where}{failure}"


def _guest_machine(spec: Spec) -> str:
    disk = spec.disk
    speed = f"{disk.model} disk of {format_bytes(disk.write_bps)}/s"
    latency = f" and {format_time(disk.latency)}" if disk.latency else ""
    options = f" ({', '.join(disk.mount_options)})" if disk.mount_options else ""
    return f"{disk.filesystem}{options} on a {speed}{latency}, {spec.clock.mode} clock, seed {spec.seed}"


def _live_machine(spec: LiveSpec) -> str:
    disk = spec.disk
    scheduler = f" ({disk.scheduler})" if disk.scheduler else ""
    memory = f"{spec.memory / 2**30:.1f} GiB" if spec.memory >= 1 << 30 else f"{spec.memory >> 20} MiB"
    return f"{disk.filesystem} on {disk.device or 'no disk'}{scheduler}, {memory} of memory, live"


def save(figure: Figure, run: Run, path: Path) -> None:
    """Write a figure; the suffix says how. Its metadata name the run, and nothing in it depends on the day.

    Raises InputError for another suffix, WblabError when the file cannot be written.
    """
    suffix = path.suffix.lower()
    if suffix not in FORMATS:
        raise InputError(f"cannot draw {str(path)!r}: its name must end in {', '.join(FORMATS)}")
    metadata = {"Title": run.name} | {".png": {}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}[suffix]
    try:
        # Without a salt the ids of elements are random.
        with rc_context({"svg.hashsalt": run.name}), replace_file(path) as file:
            figure.savefig(file, format=suffix[1:], metadata=metadata)
    except OSError as error:
        raise WblabError(f"cannot write {path}: {error.strerror}") from None


def title_colour(run: Run) -> str:
    """Return the colour of the title: that a run failed is seen."""
    return PAUSE if run.failure else "black"


def _name_offenders(view: View, ax: Axes) -> None:
    window = view.window
    starts_s = {
        name: view.seconds(start_ns)
        for name, start_ns in view.run.offender_starts_ns().items()
        if window.start_ns <= start_ns <= window.end_ns
    }
    for start_s, text in start_labels(starts_s, window.duration_ns / NS_PER_S):
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


def _explain_colours(view: View, figure: Figure) -> None:
    meanings = {
        CYCLE: "cycles of an innocent load" + (" (also as lines on every pane)" if view.is_close else ""),
        OFFENDER: "cycles of an offender",
        PAUSE: f"paused for over {format_time(view.bound_ns)}",
    }
    if view.lost_ns:
        meanings[LOST] = "events lost"
    patches = [Patch(color=colour, label=label) for colour, label in meanings.items()]
    figure.legend(handles=patches, loc="lower right", ncols=len(patches), frameon=False, fontsize=9)
