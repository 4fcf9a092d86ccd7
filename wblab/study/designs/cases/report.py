"""A verification as a report: the verdict on each claim, its figures, and the runs that decided it."""

import math
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

from wblab.analysis.statistics.decision import Outcome
from wblab.core.errors import WblabError
from wblab.lab.formats import EXPERIMENT, REPORT, RUNS, VERDICTS, write_json
from wblab.plot.save import save
from wblab.report.page import write
from wblab.report.palette import look_of
from wblab.report.quantities import listed, quantity
from wblab.report.report import Cell, Column, Picture, Report, Row, Section, Span, Table, counted
from wblab.study.designs.cases.chart import Drawn, longest_pauses
from wblab.study.designs.cases.result import OUTCOMES, Result, figure_text
from wblab.study.sources.cases import CASES
from wblab.study.sources.changes import CHANGED
from wblab.study.sources.claim import Effect
from wblab.study.sources.registry import WORKS
from wblab.study.sources.sample import Sample

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
class Judged:
    """A claim with its verdict, as runs or a kept file have it. changed: what differs from the work today."""

    name: str
    says: str
    source: str
    outcome: Outcome
    why: str
    effect: Effect | None
    changed: str


def report(result: Result, pictures: Sequence[Picture] = (), data: Mapping[str, Any] | None = None) -> Report:
    """Return the report of a verification. data: what programs read."""
    judged = [
        Judged(claim.name, claim.says, claim.source, verdict.outcome, verdict.why, verdict.effect,
               str(CHANGED.get(claim.name, "")))
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
        Judged(one["name"], one["says"], one["source"], one["verdict"], one["why"], _effect(one["effect"]),
               one.get("changed", ""))
        for one in found["claims"]
    ]  # fmt: skip
    said = f"Claims of {work.cites}, tested with {seeds} seed{'' if seeds == 1 else 's'} per case."
    how = Section("How claims are judged", (_JUDGED,), "page")
    return Report(f"Verdicts: {work.title}", _counts(judged), (said, _verdicts(judged), how))


def keep(drawn: Drawn, directory: Path, form: str) -> Picture:
    """Write a figure to a file (png, svg or pdf) and return it as the page shows it. Raises WblabError."""
    path = directory / f"{drawn.name}.{form}"
    save(drawn.figure, drawn.title, path)
    return Picture(drawn.what, png=path.read_bytes() if form == "png" else _png(drawn))


def write_report(
    result: Result, directory: Path, form: str = "png", shown: Mapping[str, Sequence[Picture]] | None = None
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


def _counts(judged: Sequence[Judged]) -> tuple[str | Span, ...]:
    return counted([one.outcome for one in judged], OUTCOMES)


def _verdicts(judged: Iterable[Judged]) -> Table:
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


def _png(drawn: Drawn) -> bytes:
    file = BytesIO()
    drawn.figure.savefig(file, format="png")
    return file.getvalue()
