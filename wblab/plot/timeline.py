"""The timeline of a run: its loads and the page cache."""

from collections.abc import Sequence
from dataclasses import replace

from wblab.analysis.runs.pagecache import PageCache
from wblab.analysis.runs.pauses import DEFAULT_BOUND_NS, Window, cycles_in, whole
from wblab.analysis.runs.run import Run
from wblab.analysis.why.account import UNEXPLAINED
from wblab.analysis.why.explain import Explanation
from wblab.core.errors import InputError, nearest
from wblab.core.spec import Disk, Spec
from wblab.core.stacks import part_of
from wblab.core.units import format_bytes, format_time
from wblab.lab.callings import called
from wblab.lab.specfile import LiveSpec
from wblab.plot.cachepanes import cache_panes
from wblab.plot.causes import Causes, causes_of, colour_of
from wblab.plot.heatpanes import heat_panes
from wblab.plot.loadpanes import INNOCENT, OFFENDING, control_panes, writer_panes, writing_panes
from wblab.plot.marks import PAUSED, MarkMeaning, Rules, Spans, Timeline
from wblab.plot.style import LOST, MARK, PAUSE, cause_label, load_colours
from wblab.plot.waitspane import waits_pane
from wblab.report.quantities import size

MOST_GUIDES = 60  # lines at cycles; more would merge into an area that hides what is below
_LABEL_WIDTH = 0.11  # of the axis: the width of "copy l1 starts"
_LOST_GROUP = "lost"
_MOST_DISKS = 2  # that fit into a title


def timeline(
    run: Run,
    cache: PageCache | None = None,
    bound_ns: int = DEFAULT_BOUND_NS,
    window: Window | None = None,
    explained: Sequence[Explanation] = (),
) -> Timeline:
    """Return the panes of a run: control loads, the page cache if it was traced, then the other loads.

    Pauses over `bound_ns` stand out; explained ones have the colours of their causes. With a window, the result is a
    close-up of that span, in which the cycles of innocent loads are also lines on every pane, unless they are many.
    """
    shown, is_close = window or whole(run), window is not None
    causes = causes_of([item for item in explained if _is_in(item, shown, run.zero_ns)], run.zero_ns)
    lost_ns = cache.lost_ns if cache else ()
    colours = load_colours({item.name: item.load for item in run.loads})
    starts_ns = run.offender_starts_ns()
    guides = _guides(run, shown, colours) if is_close else []
    return Timeline(
        run,
        shown,
        title(run),
        (
            *control_panes(run.loads, shown),
            *(waits_pane(run, explained, shown, colours) if is_close else ()),
            *(cache_panes(cache, shown, colours) if cache else ()),
            *writer_panes(run, cache, shown, colours),
            *writing_panes(run.loads, bound_ns, shown, causes, is_close=is_close),
        ),
        (
            *([Spans(lost_ns, LOST, group=_LOST_GROUP)] if lost_ns else []),
            *guides,
            *([Rules(tuple(starts_ns.values()), MARK, is_dashed=True)] if starts_ns else []),
        ),
        start_labels(
            {
                called(run.kinds[name], name): time_ns
                for name, time_ns in starts_ns.items()
                if shown.start_ns <= time_ns <= shown.end_ns
            },
            shown.duration_ns,
        ),
        _meanings(
            run,
            colours,
            _of_pauses(causes, bound_ns),
            " (also as lines on every pane)" if guides else "",
            bool(lost_ns),
        ),
        tuple(heat_panes(run, shown)),
    )


ALL = "all"


def chosen(whole: Timeline, names: str) -> Timeline:
    """Return a timeline with the panes named, separated by commas: whole names, or their beginnings.

    "all" names all but those of heat maps. Raises InputError for an unknown pane.
    """
    wanted = [name for text in names.split(",") if (name := text.strip())]
    panes = [*whole.panes, *whole.more]
    known = [pane.name for pane in panes]
    for name in wanted:
        if name != ALL and not any(each.startswith(name) for each in known):
            raise InputError(f"--panes: no pane {name!r}{nearest(name, known)}: the run has {', '.join(known)}, or all")
    found = {each for name in wanted if name != ALL for each in _named(name, known)}
    found |= {pane.name for pane in whole.panes} if not wanted or ALL in wanted else set()
    return replace(whole, panes=[pane for pane in panes if pane.name in found])


def _named(name: str, known: Sequence[str]) -> list[str]:
    return [name] if name in known else [each for each in known if each.startswith(name)]


def _is_in(item: Explanation, window: Window, zero_ns: int) -> bool:
    return item.end_ns + zero_ns > window.start_ns and item.start_ns + zero_ns < window.end_ns


def start_labels(starts: dict[str, int], span: int) -> list[tuple[int, str]]:
    """Return the times and names of starting offenders; starts too close together share one text."""
    groups: list[dict[str, int]] = []
    for name, start in sorted(starts.items(), key=lambda item: item[1]):
        if groups and start - max(groups[-1].values()) < _LABEL_WIDTH * span:
            groups[-1][name] = start
        else:
            groups.append({name: start})
    return [(max(group.values()), f"{', '.join(group)} start{'s' if len(group) == 1 else ''}") for group in groups]


def title(run: Run) -> str:
    """Return one line with a run's name, kernel and machine; if it failed, a second line with the reason."""
    kernel = run.record.get("kernel")
    release = kernel.get("release", "unknown") if isinstance(kernel, dict) else "unknown"
    where = _live_machine(run.spec) if isinstance(run.spec, LiveSpec) else _guest_machine(run.spec)
    failure = f"\nthis run did not succeed: {run.failure}" if run.failure else ""
    return f"{run.name.lstrip('_')}: Linux {release}, {where}{failure}"


def _guest_machine(spec: Spec) -> str:
    disks = [(name, disk) for name, disk in spec.disk.items() if not part_of(spec, name)]
    if len(disks) == 1 and disks[0][1].is_hardware:
        shown = f"{_filesystem(disks[0][1])} on a {disks[0][1].model} disk of {_speed(spec, disks[0][1])}"
    elif len(disks) <= _MOST_DISKS:
        shown = ", ".join(f"{name} ({_filesystem(disk)}, {disk.model}, {_speed(spec, disk)})" for name, disk in disks)
    else:
        shown = f"{len(disks)} disks"
    return f"{shown}, {spec.clock.mode} clock, seed {spec.seed}"


def _filesystem(disk: Disk) -> str:
    name = "no filesystem" if disk.filesystem == "none" else disk.filesystem
    return name + (f" ({', '.join(disk.mount_options)})" if disk.mount_options else "")


def _speed(spec: Spec, disk: Disk) -> str:
    """Return a disk's speed; for a disk made of others, their names and speed."""
    if disk.is_hardware:
        return f"{format_bytes(disk.write_bps)}/s" + (f" and {format_time(disk.latency)}" if disk.latency else "")
    if not disk.on:
        return format_bytes(disk.size)
    speeds = {_speed(spec, spec.disk[part]) for part in disk.on if spec.disk[part].is_hardware}
    return f"on {' and '.join(disk.on)}" + (f" of {speeds.pop()}" if len(speeds) == 1 else "")


def _live_machine(spec: LiveSpec) -> str:
    disk = spec.disk
    scheduler = f" ({disk.scheduler})" if disk.scheduler else ""
    return f"{disk.filesystem} on {disk.device or 'no disk'}{scheduler}, {size(spec.memory)} of memory, live"


def _guides(run: Run, window: Window, colours: dict[str, str]) -> list[Rules]:
    """Return a line at the start of each cycle of an innocent load; a gap between lines is a pause."""
    guides = []
    for item in run.loads:
        first, last = cycles_in(item, window)
        if item.load.role == "innocent" and 0 < last - first <= MOST_GUIDES:
            times_ns = tuple(item.boundaries_ns[first : last + 1].tolist())
            guides.append(Rules(times_ns, colours[item.name], 0.4, opacity=0.5, group=INNOCENT))
    return guides


def _meanings(
    run: Run, colours: dict[str, str], paused: Sequence[MarkMeaning], also: str, lost: bool
) -> list[MarkMeaning]:
    """Return the meanings of colours. paused: those of pauses; also: additional text for innocent loads."""

    def of_loads(role: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys(colours[item.name] for item in run.loads if item.load.role == role))

    meanings = [
        MarkMeaning(INNOCENT, of_loads("innocent"), f"cycles of an innocent load{also}"),
        MarkMeaning(OFFENDING, of_loads("offender"), "cycles of an offender"),
        *paused,
        MarkMeaning(_LOST_GROUP, (LOST,) if lost else (), "events lost"),
    ]
    return [meaning for meaning in meanings if meaning.colours]


def _of_pauses(causes: Causes, bound_ns: int) -> list[MarkMeaning]:
    """Return the meanings of the colours of pauses; the first entry also names the threshold."""
    says = f"paused for over {format_time(bound_ns)}"
    found = [
        MarkMeaning(
            f"{PAUSED}: {name}", (colour_of(name),), f"{says}: {label}" if not at else label, name == UNEXPLAINED
        )
        for at, name in enumerate(causes.listed)
        for label in [cause_label(name)]
    ]
    return found or [MarkMeaning(PAUSED, (PAUSE,), says)]
