"""A trial as a report for readers new to writeback: its verdicts, each scenario with its runs, and its picture."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from wblab.analysis.statistics.decision import HARMS, NOT_DECIDED, NOT_REPRODUCED, REPRODUCED
from wblab.analysis.statistics.intervals import RATE
from wblab.claims.outside import tried_outside
from wblab.claims.trial.figure import drawn
from wblab.claims.trial.judged import Tried
from wblab.claims.trial.plan import Answer
from wblab.claims.trial.recommendations import Recommendation, Wisdom
from wblab.claims.trial.result import ExpectationRow, Looked, TrialResult
from wblab.claims.trial.verdict import JudgedFigure, is_worse
from wblab.core.errors import WblabError
from wblab.core.units import format_bytes
from wblab.lab.formats import EXPERIMENT, REPORT, RUNS, VERDICTS, write_json
from wblab.plot.picture import save
from wblab.report.elsewhere import NOTHING, OUTSIDE
from wblab.report.page import write
from wblab.report.palette import look_of
from wblab.report.quantities import confidence, interval, quantity, span, unit_of
from wblab.report.report import Block, Cell, Column, Picture, Points, Report, Row, Section, Span, Table, Words, counted
from wblab.study.cells import run_name

PICTURE = "trial.png"
_TITLE = "Folk wisdom on trial"
_OUTCOMES = (REPRODUCED, NOT_REPRODUCED, HARMS, NOT_DECIDED)
_NONE = "-"
_ABOUT = (
    "When a program writes a file, Linux keeps the data in memory and writes it to the disk later: that is writeback. "
    "A limit says how much data may wait. When one program writes faster than the disk, light writers stall as well, "
    "sometimes for seconds. Many recommendations say how to set that limit and the settings around it. Each was tried "
    "here: the same loads ran once with the kernel's defaults and once with the recommended settings."
)


def report(result: TrialResult, picture: Picture | None = None) -> Report:
    """Return the report of a trial."""
    where = f"{result.kernel.get('release', '')}{f' on {result.filesystem}' if result.filesystem else ''}"
    ran = (
        f"{result.runs} runs of Linux {where}, up to {result.seeds} seeds each. The guests run in virtual time, so "
        "each run repeats to the bit."
    )
    outside = tried_outside(_keys(result))
    return Report(
        title=_TITLE,
        headline=(*counted([row.outcome for row in result.rows], _OUTCOMES), "."),
        blocks=(
            Section("", (_ABOUT,), "page"),
            ran,
            *([picture] if picture else []),
            Section("The verdicts", (_verdicts(result),)),
            Section("All scenarios, with their runs", (_scenarios(result),), "folded", "scenarios"),
            *_contradictions(result),
            Section(OUTSIDE, (Points(tuple(outside)) if outside else NOTHING,)),
            Section("How it was tried", tuple(_how(result)), "page"),
        ),
        notes=tuple(asked_lines(result.answers, result.wisdom)),
        data=result.to_json(),
    )


def write_report(result: TrialResult, directory: Path) -> tuple[Report, Path]:
    """Write the page, its picture as a file, and verdicts.json; return the report and its page. Raises WblabError."""
    shown = drawn(result.tried, result.wisdom)
    save(shown.picture, _TITLE, directory / PICTURE)
    try:
        write_json(directory / VERDICTS, result.to_json())
        png = (directory / PICTURE).read_bytes()
    except OSError as error:
        raise WblabError(f"cannot write the report into {directory}: {error.strerror}") from None
    found = report(result, Picture(shown.what, png=png))
    return found, write(found, directory / REPORT)


def worst_text(row: ExpectationRow) -> str:
    """Return the figure that decides an expectation, with its scenario."""
    if row.worst.tried.refused:
        return f"this kernel rejects {row.worst.tried.refused} on {row.worst.place}"
    if row.worst.tried.failed:
        return f"no run succeeded on {row.worst.place}: {row.worst.tried.failed}"
    if row.outcome == HARMS and not is_worse(row.worst.kept.harm):
        return f"light writers' longest pause {figure_text(row.worst.tried.others)} on {row.worst.place}"
    figure = row.worst.kept.harm if row.outcome == HARMS else row.worst.kept.figure
    return f"{figure_text(figure, row.expectation.metric)} on {row.worst.place}"


def figure_text(figure: JudgedFigure | None, metric: str = "") -> str:
    """Return a figure with its interval: ×0.43 (0.40 to 0.46), or 1.32 s (1.21 to 1.40)."""
    if figure is None:
        return _NONE
    found = figure.interval
    return interval(found.estimate, found.low, found.high, _unit(figure, metric))


def threshold_text(figure: JudgedFigure | None, metric: str = "") -> str:
    """Return the threshold of an expectation: at most 1 s, at least ×1.05."""
    if figure is None:
        return _NONE
    return f"at {'least' if figure.rising else 'most'} {quantity(figure.threshold, _unit(figure, metric))}"


def cost_text(items: Sequence[Tried]) -> str:
    """Return the ratio of the offender's rate over all scenarios: the least and the greatest."""
    return _range([item.cost.interval.estimate for item in items if item.cost is not None])


def others_text(items: Sequence[Tried]) -> str:
    """Return where the innocent loads' longest pause is shorter and where longer, with the ratios."""
    better = _where([item for item in items if item.helps_others])
    worse = _where([item for item in items if item.harms_others])
    said = [f"{word} on {where}" for word, where in (("shorter", better), ("longer", worse)) if where]
    return "; ".join(said) or "no difference shown"


def asked_lines(answers: Mapping[str, Answer], wisdom: Wisdom) -> list[str]:
    """Return a line for each value that the kernel does not accept as published."""
    found = {key: _kernel(answer, key, wisdom) for key, answer in answers.items()}
    return [f"{key} as published: {words}" for key, words in found.items() if words]


def _unit(figure: JudgedFigure, metric: str) -> str:
    """Return the unit of a figure: of its metric, or that of a ratio."""
    return unit_of(metric) if figure.absolute else "×"


def _where(items: Sequence[Tried]) -> str:
    ratios: dict[str, list[float]] = {}
    for item in items:
        if item.others is not None:
            ratios.setdefault(item.scenario, []).append(item.others.interval.estimate)
    return ", ".join(f"{scenario} ({_range(found)})" for scenario, found in ratios.items())


def _range(ratios: Sequence[float]) -> str:
    """Return ratios from the least to the greatest: ×0.41 to ×0.64."""
    return span(min(ratios), max(ratios), "×") if ratios else _NONE


def _kernel(answer: Answer | None, key: str, wisdom: Wisdom) -> str:
    """Return how the kernel changed or rejected a value as published; empty if it accepted it."""
    return answer.words(wisdom.values()[key][1]) if answer else ""


def _keys(result: TrialResult) -> list[str]:
    """Return the keys that the tried recommendations set."""
    values = result.wisdom.values()
    return [
        key for row in result.rows for each in (values[row.key][1],) for key in (*each.sysctl, *each.bdi, *each.queue)
    ]


def _verdicts(result: TrialResult) -> Table:
    """Return a row for each expectation of each value, and one for a value without any."""
    columns = (
        Column(""), Column("source"), Column("settings", "prose"), Column("expectation", "prose"), Column("verdict"),
        Column("holds in"), Column("worst scenario", "prose"), Column("light writers' longest pause", "prose", 2),
        Column("heavy writer's rate", "number", 1),
    )  # fmt: skip
    rows: list[Row] = []
    for key, (entry, value) in result.wisdom.values().items():
        everywhere = [item for item in result.tried if item.key == key]
        figures = (others_text(everywhere), cost_text(everywhere)) if value.is_setting else ("", "")
        notes = [entry.source, entry.note, f"Not tested: {entry.untested}" if entry.untested else ""]
        kernel = _kernel(result.answers.get(key), key, result.wisdom)
        notes.append(f"The kernel: {kernel}" if kernel else "")
        first: tuple[Words | Cell, ...] = (
            Span(key, link="#scenarios"), entry.who, Cell(value.name, notes=tuple(filter(None, notes)))
        )  # fmt: skip
        own = [row for row in result.rows if row.key == key]
        said = [_expected(row) for row in own] or [
            ("no expectation of its own; compare it with the others", "", "", "")
        ]
        for at, cells in enumerate(said):
            begin, end = (first, figures) if not at else ((key, "", ""), ("", ""))
            rows.append(Row((*begin, *cells, *end), "" if at else f"recommendation-{key}"))
    return Table(columns, tuple(rows))


def _expected(row: ExpectationRow) -> tuple[Words | Cell, ...]:
    wanted = threshold_text(row.worst.kept.figure, row.expectation.metric)
    worst = Cell(worst_text(row), notes=() if wanted == _NONE else (f"expected {wanted}",))
    return row.expectation.says, Span(row.outcome, look_of(row.outcome).style), row.counts, worst


def _scenarios(result: TrialResult) -> Table:
    """Return a row for each value on each scenario and each of its expectations, with a run."""
    columns = (
        Column(""), Column("scenario"), Column("verdict"), Column("figure", "number"), Column("expected"),
        Column("light writers' longest pause", "number"), Column("heavy writer's rate", "number"), Column("run"),
    )  # fmt: skip
    rows: list[Row | str] = []
    for key, (_, value) in result.wisdom.values().items():
        everywhere = [item for item in result.tried if item.key == key]
        rows += [f"{key}: {value.name}"] if everywhere else []
        rows += [line for item in everywhere for line in _tried(item)]
    return Table(columns, tuple(rows))


def _tried(item: Tried) -> Iterator[Row]:
    figures = (figure_text(item.others), figure_text(item.cost))
    place = Looked(item, item.kept[0]).place if item.kept else item.scenario
    if item.refused or item.failed:
        why = f"this kernel rejects {item.refused}" if item.refused else f"no run succeeded: {item.failed}"
        yield Row((item.key, place, why, "", "", *figures, ""))
        return
    run = Span("run", link=f"{RUNS}/{run_name(item.cell, 1)}/{EXPERIMENT}")
    for at, kept in enumerate(item.kept or (None,)):
        shown: tuple[Words, ...] = ("", "", "")
        if kept:
            metric, also = kept.expectation.metric, " (the default meets it too)" if kept.before else ""
            shown = (Span(kept.outcome, look_of(kept.outcome).style), figure_text(kept.figure, metric),
                     threshold_text(kept.figure, metric) + also)  # fmt: skip
        yield Row((item.key, place, *shown, *(figures if not at else ("", "")), run if not at else ""))


def _contradictions(result: TrialResult) -> Iterator[Block]:
    """Yield contradicting recommendations side by side: the innocent loads' longest pause by scenario."""
    numbers = {entry.number: entry for entry in result.wisdom.recommendation}
    pairs = {
        frozenset((entry.number, number)): (entry, numbers[number])
        for entry in result.wisdom.recommendation
        for number in entry.contradicts
        if number in numbers
    }
    if not pairs:
        return
    said = (
        "The light writers' longest pause, divided by that with the kernel's defaults: below 1 is better. Where "
        "several values or scalings were tried, the best and the worst are shown."
    )
    scenarios = result.wisdom.scenario
    columns = (Column("source"), Column("settings", "prose"), *(Column(name, "number") for name in scenarios))
    rows: list[Row | str] = []
    for pair in pairs.values():
        rows += [f"{pair[0].number} against {pair[1].number}", *(_side(entry, result) for entry in pair)]
    head = "Contradicting recommendations side by side"
    yield Section(head, (said, Table(columns, tuple(rows))), "page")


def _side(entry: Recommendation, result: TrialResult) -> Row:
    """Return a recommendation's ratios by scenario, from its best value and scaling to the worst."""
    ratios = (
        [item.others.interval.estimate for item in result.tried
         if item.recommendation is entry and item.scenario == scenario and item.others is not None]
        for scenario in result.wisdom.scenario
    )  # fmt: skip
    return Row((f"{entry.number} {entry.who}", "; ".join(value.name for value in entry.value), *map(_range, ratios)))


def _how(result: TrialResult) -> Iterator[Block]:
    wisdom, machine = result.wisdom, result.wisdom.machine
    yield Points(tuple((Span(name, form="bold"), f", {of.title}: {of.about}") for name, of in wisdom.scenario.items()))
    yield (
        "The guests are smaller than the machines that a recommendation is for. A size is scaled in two ways: by "
        "seconds, to what the disk writes in the same time, and by memory, to the same share of memory. If the source "
        f"names no machine, the lab assumes one of {format_bytes(machine.memory)} with a disk of "
        f"{format_bytes(machine.write_bps)}/s, and 10 MB/s for a memory stick."
    )
    yield (
        "The heavy writer writes some tens of MiB and ends. If a limit is higher than that, it is never reached: the "
        "run then shows one burst, not a writer that goes on."
    )
    yield (
        "An expectation is reproduced if it holds in every scenario where it was tested. It harms where what was "
        "expected, or the light writers' longest pause, is worse than with the defaults by more than a tenth. It is "
        "not decided where the runs do not suffice. One run refutes that pauses never exceed a limit. A figure with × "
        "is a ratio of two runs with the same seed: the geometric mean over seeds, with a 95 % bootstrap interval. "
        "Pauses below 0.1 s count as 0.1 s, because nobody notices them. The verdicts are corrected for their number "
        f"(Benjamini and Hochberg): at most {confidence(RATE)} of them should be wrong."
    )
    kept = (
        "the records of the runs are beside this page, and wblab run repeats a run from the directory of its record."
        if result.filesystem
        else "the runs are beside this page, for wblab timeline, wblab why and wblab repeat."
    )
    yield "All figures: ", Span(VERDICTS, link=VERDICTS), f"; {kept}"
