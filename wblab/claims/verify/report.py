"""A verification as a report: the verdict on each claim, its figures, and the runs that decided it."""

import math
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from wblab.analysis.runs.pagecache import page_cache
from wblab.analysis.runs.pauses import around
from wblab.analysis.statistics.decision import Outcome
from wblab.analysis.why.explanations import explain_all
from wblab.claims.sources.cases import CASES
from wblab.claims.sources.changes import changed_since
from wblab.claims.sources.registry import WORKS
from wblab.claims.sources.sample import Sample
from wblab.claims.verify.result import OUTCOMES, VerificationResult, figure_text
from wblab.core.errors import WblabError
from wblab.core.loads import MultiWrite, Write
from wblab.lab.formats import EXPERIMENT, REPORT, RUNS, VERDICTS, write_json
from wblab.plot.picture import picture, save
from wblab.plot.style import DPI, GRID, WIDTH_IN, load_colours
from wblab.plot.timeline import timeline
from wblab.report.page import write
from wblab.report.palette import look_of
from wblab.report.quantities import listed, quantity
from wblab.report.report import Cell, Column, Picture, Report, Row, Section, Span, Table, counted
from wblab.study.statement import Effect

# The figures of a report: the longest pauses of all seeds, and timelines of single runs.

_ROW_IN = 0.42
_COLOURS = load_colours({"w1": Write, "mw1": MultiWrite})
_OFF = {"w1": -0.12, "mw1": 0.12}
_SHOWN = {
    "ext2": "The base experiment as the thesis ran it, on ext2.",
    "ext4": "The base experiment on ext4 with its journal.",
    "sync": "The base experiment, mounted sync.",
    "device": "The base experiment on the device disk.",
    "device-bfq-idle": "The base experiment on the device disk, with BFQ and the offenders in the idle class.",
}
_CLOSE = ("ext2", "device")


def plot_longest_pauses(samples: dict[str, list[Sample]], *, ax: Axes) -> Axes:
    """Draw the longest pause of w1 and mw1 in each run: one row per case, one point per run, a bar at the median."""
    for row, runs in enumerate(samples.values()):
        for name, colour in _COLOURS.items():
            values = sorted(sample.longest_s(name) for sample in runs)
            at = [row + _OFF[name]] * len(values)
            ax.plot(values, at, "o", color=colour, alpha=0.6, markersize=6, label=name if row == 0 else None)
            middle = (values[(len(values) - 1) // 2] + values[len(values) // 2]) / 2
            ax.plot([middle], [row + _OFF[name]], "|", color=colour, markersize=16, markeredgewidth=2)
    ax.set_xscale("log")
    ax.xaxis.set_major_formatter(lambda value, place: f"{value:g}")
    ax.set_yticks(range(len(samples)), list(samples))
    ax.invert_yaxis()
    ax.set_xlabel("longest pause of a run (s); one point per seed, bar at the median")
    ax.grid(color=GRID, linewidth=0.5)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
    return ax


@dataclass(frozen=True)
class DrawnClaim:
    """A figure of the report. name: stem of its file; what: its caption; title: the title in the file."""

    name: str
    what: str
    title: str
    figure: Figure


def longest_pauses(samples: dict[str, list[Sample]]) -> DrawnClaim | None:
    """Draw the longest pauses of w1 and mw1 in the cases that have both loads; None if no case has them."""
    samples = {case: runs for case, runs in samples.items() if runs and _COLOURS.keys() <= runs[0].run.spec.load.keys()}
    if not samples:
        return None
    figure = Figure(figsize=(WIDTH_IN, 1.2 + _ROW_IN * len(samples)), dpi=DPI, layout="constrained")
    FigureCanvasAgg(figure)
    plot_longest_pauses(samples, ax=figure.add_subplot())
    what = "Longest pause of each run. w1 appends to an open file; mw1 opens a new file each time."
    return DrawnClaim("longest-pauses", what, "Longest pauses", figure)


def timelines(case: str, sample: Sample) -> Iterator[DrawnClaim]:
    """Yield the figures of a run; none if the report shows no runs of its case."""
    if case not in _SHOWN:
        return
    run, cache = sample.run, page_cache(sample.run)
    causes = explain_all(run, cache)
    whole = timeline(run, cache, explained=causes)
    yield DrawnClaim(case, f"{_SHOWN[case]} Seed {run.spec.seed}.", run.name, picture(whole))
    if case in _CLOSE:
        near = f"The same run, close up ({case}): the longest pause of its innocent loads."
        close = timeline(run, cache, window=around(run, "longest"), explained=causes)
        yield DrawnClaim(f"{case}-close-up", near, run.name, picture(close))


_JUDGED = (
    "A figure is the mean over seeds with its 95 % interval; for times and ratios it is the geometric mean. A figure "
    "with × is a ratio; ratios of two cases pair runs of the same seed. A claim is reproduced if the whole interval "
    "lies in the claimed range, and not reproduced if it lies outside. Otherwise it is not decided: more seeds "
    "(--seeds) may decide it. Some claims say that something always or never happens. For these, the share of seeds "
    "that show it is compared with one half. The p values of all verdicts are corrected together (Benjamini and "
    "Hochberg): at most 5 % of the verdicts should be wrong. With fewer than three seeds there is no interval; the "
    "figure is then the median, with the minimum and the maximum. A claim that is not reproduced is a finding about "
    "this kernel in this lab."
)


@dataclass(frozen=True)
class JudgedClaim:
    """A claim with its verdict, as runs or a kept file have it. changed: what differs from the work today."""

    name: str
    says: str
    source: str
    outcome: Outcome
    why: str
    effect: Effect | None
    changed: str


def report(
    result: VerificationResult, pictures: Sequence[Picture] = (), data: Mapping[str, Any] | None = None
) -> Report:
    """Return the report of a verification. data: what programs read."""
    judged = [
        JudgedClaim(claim.name, claim.says, claim.source, verdict.outcome, verdict.why, verdict.effect,
               changed_since(claim.name, verdict.outcome, result.release))
        for claim, verdict in result.verdicts
    ]  # fmt: skip
    seeds = f"{result.seeds} seed{'s' if result.seeds != 1 else ''}"
    work = WORKS[result.work]
    return Report(
        title=f"{work.title} on Linux {result.release}",
        headline=(f"Linux {result.release}, {seeds}, {quantity(result.wall_s, 's')}: ", *_counts(judged)),
        blocks=(
            Section("", (f"Claims of {work.cites}, each tested with {seeds} per case.",), "page"),
            _verdicts(judged),
            Section("How claims are judged", (_JUDGED,), "page"),
            *([Section("Figures", tuple(pictures), "page")] if pictures else []),
            Section("Runs", (_runs(result.samples),), "page"),
            Section("", (("All figures: ", Span(VERDICTS, link=VERDICTS)),), "page"),
        ),
        inputs={"kernel build": str(result.kernel.get("build_id", ""))[:16]},
        data=data or {},
    )


def kept_report(found: Mapping[str, Any]) -> Report:
    """Return the report of the verdicts that a verification kept.

    Raises AttributeError, KeyError, TypeError and ValueError for what no verification wrote.
    """
    work, seeds = WORKS[found["work"]], int(found["seeds"])
    judged = [
        JudgedClaim(one["name"], one["says"], one["source"], one["verdict"], one["why"], _effect(one["effect"]),
               one.get("changed", ""))
        for one in found["claims"]
    ]  # fmt: skip
    said = f"Claims of {work.cites}, tested with {seeds} seed{'' if seeds == 1 else 's'} per case."
    how = Section("How claims are judged", (_JUDGED,), "page")
    return Report(f"Verdicts: {work.title}", _counts(judged), (said, _verdicts(judged), how))


def keep(drawn: DrawnClaim, directory: Path, form: str) -> Picture:
    """Write a figure to a file (png, svg or pdf) and return it as the page shows it. Raises WblabError."""
    path = directory / f"{drawn.name}.{form}"
    save(drawn.figure, drawn.title, path)
    return Picture(drawn.what, png=path.read_bytes() if form == "png" else _png(drawn))


def write_report(
    result: VerificationResult, directory: Path, form: str = "png", shown: Mapping[str, Sequence[Picture]] | None = None
) -> tuple[Report, Path]:
    """Write the page, the figure of the longest pauses and verdicts.json; return the report and its page.

    form: format of the figure's file: png, svg or pdf. shown: figures of single runs, by case. Raises WblabError.
    """
    data = result.to_json(directory)
    try:
        overall = longest_pauses(result.samples)
        pictures = [keep(overall, directory, form)] if overall else []
        write_json(directory / VERDICTS, data)
    except OSError as error:
        raise WblabError(f"cannot write the report into {directory}: {error.strerror}") from None
    pictures += [one for case in result.samples for one in (shown or {}).get(case, ())]
    found = report(result, pictures, data)
    return found, write(found, directory / REPORT)


def _counts(judged: Sequence[JudgedClaim]) -> tuple[str | Span, ...]:
    return counted([one.outcome for one in judged], OUTCOMES)


def _verdicts(judged: Iterable[JudgedClaim]) -> Table:
    columns = (
        Column("claim"), Column("verdict"), Column("figure", "number"), Column("what is claimed", "prose"),
        Column("finding and measurements", "prose", 1),
    )  # fmt: skip
    rows: list[Row | str] = []
    source = None
    for one in judged:
        if one.source != source:
            rows.append(one.source)
        source, look = one.source, look_of(one.outcome)
        effect, notes = one.effect, [one.changed] if one.changed else []
        if effect:
            notes.insert(0, f"{effect.what}: {listed(effect.values, effect.unit)}")
        verdict = Span(f"{look.sign} {look.word}", look.style)
        rows.append(
            Row((one.name, verdict, figure_text(effect), one.says, Cell(one.why, notes=tuple(notes))), one.name)
        )
    return Table(columns, tuple(rows))


def _runs(cases: Mapping[str, Sequence[Sample]]) -> Table:
    columns = (Column("case"), Column("description", "prose"), Column("command", "prose"), Column("runs", "prose"))
    return Table(columns, tuple(_case(name, samples) for name, samples in cases.items()))


def _case(name: str, samples: Sequence[Sample]) -> Row:
    known = CASES[name]
    changes = [word for setting in known.settings for word in ("--set", setting)]
    command = shlex.join(["wblab", "run", known.preset, *changes])
    return Row((name, known.what, Span(command, form="code"), tuple(_links(samples))))


def _links(samples: Sequence[Sample]) -> Iterator[str | Span]:
    for at, item in enumerate(samples):
        yield from (", ",) * bool(at)
        yield Span(f"seed {item.run.spec.seed}", link=f"{RUNS}/{item.run.name}/{EXPERIMENT}")


def _effect(effect: Mapping[str, Any] | None) -> Effect | None:
    """Return an effect as it was kept; null stands for what is not finite."""

    def number(value: Any) -> Any:
        if isinstance(value, list):
            return tuple(map(number, value))
        return math.inf if value is None else value

    return None if effect is None else Effect(**{key: number(value) for key, value in effect.items()})


def _png(drawn: DrawnClaim) -> bytes:
    file = BytesIO()
    drawn.figure.savefig(file, format="png")
    return file.getvalue()
