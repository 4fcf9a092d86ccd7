"""A comparison of kernels as a report: what differs in source, options and figures, and why pauses changed."""

from collections.abc import Iterator, Sequence
from statistics import median

from wblab.analysis.runs.metrics import OF_BUILDS, OF_BUILDS_SHARE
from wblab.analysis.statistics.dominance import least_runs
from wblab.lab.printable import printable
from wblab.report import quantities
from wblab.report.comparisontext import footnotes, line
from wblab.report.quantities import metric_name, numbers, percent, quantity, span, unit_of
from wblab.report.report import Block, Cell, Column, Lines, Points, Report, Row, Section, Table
from wblab.study.designs.ab.changedpauses import ChangedPause, Pause
from wblab.study.designs.ab.differs import Differs
from wblab.study.designs.ab.figures import ComparedFigure, ComparedFigures
from wblab.study.designs.ab.plan import KernelStep
from wblab.study.designs.ab.result import KernelsResult, to_json
from wblab.study.undecided import is_asked

PEERS = "The comparisons of mmtests, LKP and Phoronix time real machines, and do not repeat to the bit."
_MOST_LOADS = 3  # in a headline
_MOST_ROWS = 24  # in a terminal
_MOST_OPTIONS = 12
_NOUNS = {"paused": "paused time"}  # of a metric's name that is none
_FIRST = "longest_pause_s"  # what users ask about first


def report(found: KernelsResult) -> Report:
    """Return the report. Its headline claims what its rows claim, and nothing else."""
    states = found.asked.states
    return Report(
        title=f"{states[-1].label} against {states[0].label}",
        headline=headline(found),
        blocks=tuple(_blocks(found)),
        notes=tuple(_notes(found)),
        command=found.asked.command,
        inputs={f"digest of {name}": value for name, value in found.specs.items()},
        data=to_json(found),
        is_open=not found.figures.claimed and any(item.is_open for item in found.figures.rows),
    )


def headline(found: KernelsResult) -> str:
    """Return which figures differ, the largest first; or how small a difference would have been seen."""
    steps = found.asked.steps
    said = _of_figures(found.figures)
    if len(steps) > 1:
        changed = sum(bool(found.figures.of(number).claimed) for number in range(len(steps)))
        return f"{changed} of {len(steps)} steps change a figure. {said}"
    if not found.asked.same_program(steps[0]):
        return said
    if any(item.difference.claim for item in found.figures.rows):
        return f"A and B are the same program, byte for byte, and yet figures differ: do not trust this. {said}"
    return f"A and B are the same program, byte for byte. {said}"


def trust(found: KernelsResult) -> str:
    """Return why the figures can be trusted on another machine: what was checked, not what is promised."""
    if not found.is_virtual:
        return "The runs were made in real time: they depend on this machine, and do not repeat."
    count = len(found.repeated.same) + len(found.repeated.other)
    if found.repeated.other:
        return (
            f"{len(found.repeated.other)} of {count} runs that were made twice did not repeat to the bit "
            f"({', '.join(found.repeated.other)}): 'wblab repeat' shows the first difference."
        )
    virtual = (
        "The runs are in virtual time, which no machine's speed changes. Computing takes none of it: what a change "
        "costs the processor is not seen here."
    )
    if not count:
        return f"{virtual} {PEERS}"
    return (
        f"{virtual} With the same kernel, Python and trace-cmd they repeat to the bit; checked here: {count} of "
        f"{count} did. {PEERS}"
    )


def _of_figures(found: ComparedFigures) -> str:
    """Return the headline of figures."""
    rows = found.rows
    if not rows:
        return "Nothing was run: no step changes the program."
    if claimed := found.claimed:
        count = f"{len(claimed)} of {len(rows)} figures {'differ' if len(claimed) > 1 else 'differs'}."
        largest = "; ".join(_sentence(item) for item in _of_loads(claimed)[:_MOST_LOADS])
        return f"{count} {'The largest: ' if len(claimed) > 1 else ''}{largest}."
    if apart := [item for item in rows if item.is_open]:
        least = least_runs(1 - found.whole.confidence) if found.whole else 0
        return (
            f"Seen, but not decided: in {len(apart)} of {len(rows)} figures every run of one side is above every run "
            f"of the other; so few runs can be chance. {least} seeds would decide."
        )
    if not any(item.difference.interval.known for item in rows):
        return f"Too few runs to claim anything: {min(item.seeds for item in rows)} of each side."
    return f"No difference is shown in {len(rows)} figures. {_reach(rows)}".rstrip()


def _of_loads(claimed: Sequence[ComparedFigure]) -> list[ComparedFigure]:
    """Return one figure of each load, in order: its longest pause if that is claimed, else its largest difference."""
    found: dict[tuple[int, str, str], ComparedFigure] = {}
    for item in claimed:
        key = item.pair.number, item.pair.spec, item.about.load
        if key not in found or item.about.metric == _FIRST:
            found[key] = item
    return list(found.values())


def _sentence(item: ComparedFigure) -> str:
    a, b = _means(item)
    better = {1: ", better", -1: ", worse"}.get(item.gain, "")
    return f"{_where(item)}: {b} instead of {a}{better}"


def _where(item: ComparedFigure) -> str:
    metric = metric_name(item.about.metric)
    return f"{item.pair.spec}, {printable(item.about.load)}'s {_NOUNS.get(metric, metric)}"


def _means(item: ComparedFigure) -> tuple[str, str]:
    """Return both means, in one unit."""
    (a, b), name = numbers([item.before, item.after], unit_of(item.about.metric))
    return f"{a} {name}".rstrip(), f"{b} {name}".rstrip()


def _reach(rows: Sequence[ComparedFigure]) -> str:
    """Return how small a difference would have been claimed, in the pauses of innocent loads."""
    known = [(max(OF_BUILDS_SHARE, item.reach / item.before), item) for item in rows
             if is_asked(item.about) and item.reach is not None and item.before > 0]  # fmt: skip
    if not known:
        return ""
    shares = [share for share, _ in known]
    if max(shares) == OF_BUILDS_SHARE:
        least = percent(OF_BUILDS_SHARE)
        return f"Each of the {len(known)} figures of pauses would have shown a difference above {least}."
    worst = max(known, key=lambda each: each[0])[1]
    unit = unit_of(worst.about.metric)
    return (
        f"Of the {len(known)} figures of pauses, half would have shown a difference above {percent(median(shares))}, "
        f"and all one above {percent(max(shares))} ({_where(worst)}: {quantity(worst.reach or 0.0, unit)})."
    )


def _blocks(found: KernelsResult) -> Iterator[Block]:
    steps = found.asked.steps
    if len(steps) == 1:
        yield from _step(found, 0)
        return
    yield Section("Which step changed what", (_kernels(found, (0, len(found.asked.states) - 1)), _summary(found)))
    for number, step in enumerate(steps):
        subject = found.asked.states[step.after].subject
        differs = bool(found.figures.of(number).claimed)
        head = f"Step {number + 1}: {subject}" + ("" if differs else f" ({_largest(found, number)})")
        yield Section(head, tuple(_step(found, number)), "mail" if differs else "folded", f"step{number + 1}")


def _summary(found: KernelsResult) -> Table:
    """Return a table of all steps: which changed what."""
    rows = [
        (str(number + 1), str(len(found.figures.of(number).claimed)), found.asked.states[step.after].subject,
         _largest(found, number))
        for number, step in enumerate(found.asked.steps)
    ]  # fmt: skip
    columns = (Column("step"), Column("figures that differ", "number"), Column("change", "prose"),
               Column("the largest", "prose"))  # fmt: skip
    return Table(columns, tuple(map(Row, rows)))


def _largest(found: KernelsResult, number: int) -> str:
    if found.asked.same_program(found.asked.steps[number]):
        return "the same program, byte for byte"
    claimed = found.figures.of(number).claimed
    return _sentence(claimed[0]) if claimed else "no difference is shown"


def _step(found: KernelsResult, number: int) -> Iterator[Block]:
    step, (figures, pauses) = found.asked.steps[number], found.of(number)
    yield (
        _kernels(found, (step.before, step.after))
        if len(found.asked.steps) == 1
        else Section("", (_kernels(found, (step.before, step.after)),), "terminal")
    )
    yield Section("What differs besides figures", tuple(_besides(step.differs)), "terminal")
    yield from _figures(found, step, figures)
    if pauses:
        head = "Why: the longest pause of each load that changed"
        yield Section(head, (_pauses(pauses), Section("The runs of these pauses", (_commands(pauses),), "folded")),
                      "terminal")  # fmt: skip


def _kernels(found: KernelsResult, places: tuple[int, int]) -> Table:
    rows = [
        (name, state.label, str(kernel["release"]), str(kernel["source"]), str(kernel["build_id"])[:12])
        for name, state, kernel in ((name, found.asked.states[at], found.kernels[at])
                                    for name, at in zip("AB", places, strict=True))
    ]  # fmt: skip
    heads = (Column(""), Column("kernel"), Column("Linux"), Column("source", "prose"), Column("build"))
    return Table(heads, tuple(map(Row, rows)))


def _besides(differs: Differs) -> Iterator[Block]:
    """Yield a table of what differs besides figures; further options follow, folded."""
    options, features = ([f"{item.name}: {item.a} → {item.b}" for item in of]
                         for of in (differs.options, differs.features))  # fmt: skip
    patches = [f"only {side}: {', '.join(name.removesuffix('.patch') for name in names)}"
               for side, names in (("A", differs.only_a), ("B", differs.only_b)) if names]  # fmt: skip
    first = [*options[:_MOST_OPTIONS], *([f"and {len(options) - _MOST_OPTIONS} more"] * (len(options) > _MOST_OPTIONS))]
    named = {"source": differs.source, "options": first, "patches of the lab": patches, "features": features}
    rows = [Row((head if not at else "", said))
            for head, lines in named.items() for at, said in enumerate(lines or ["nothing"])]  # fmt: skip
    yield Table((Column(""), Column("", "prose")), tuple(rows))
    if len(options) > _MOST_OPTIONS:
        yield Section(f"All {len(options)} options that differ", (Points(tuple(options)),), "folded")


def _figures(found: KernelsResult, step: KernelStep, figures: ComparedFigures) -> Iterator[Block]:
    """Yield the claimed differences, and folded all others."""
    claimed = figures.claimed
    others = [item for item in figures.rows if not item.claimed]
    head = f"What differs in figures: {_counts(figures)}"
    if claimed:
        level = quantities.confidence(claimed[0].difference.confidence)
        said = f"Means over seeds, with intervals of {level} of the difference."
        more = (
            "Innocent loads come first, the largest differences of times before those of rates. A claim rests on the "
            "interval or on exact tests of ranks, not on the ratio."
        )
        yield Section(head, (said, Section("", (more,), "page"), _table(claimed, _MOST_ROWS)))
    elif len(found.asked.steps) == 1:
        yield Section(head, ("No difference is claimed.",))
    else:
        same = "Nothing was run: the program is the same, byte for byte."
        yield Section(head, (_of_figures(figures) if figures.rows else same,))
    if others:
        yield Section(f"Without a claimed difference: {len(others)}", (_table(others),), "folded")


def _counts(found: ComparedFigures) -> str:
    """Return how many figures differ, are not decided, and show no difference."""
    claimed, apart = len(found.claimed), sum(item.is_open for item in found.rows)
    rest = len(found.rows) - claimed - apart
    return f"{claimed} differ, {apart} not decided, {rest} show no difference"


def _table(figures: Sequence[ComparedFigure], most: int | None = None) -> Table:
    columns = (
        Column("spec"), Column("load"), Column("metric"), Column("A", "number"), Column("B", "number"),
        Column("B − A", "number", 2), Column("interval", "number"), Column("relative", "number", 4),
        Column("Cliff's delta", "name", 5), Column("seeds", "number", 3), Column("", "name", 1),
    )  # fmt: skip
    return Table(columns, tuple(map(_row, figures)), most)


def _row(item: ComparedFigure) -> Row:
    """Return a figure in words."""
    words, (a, b), found = line(item.difference), _means(item), item.difference.interval
    look = "yes" if item.gain > 0 else "no" if item.gain < 0 else "" if item.claimed else "undecided"
    ends = words.interval
    if found.low is not None and found.high is not None:
        ends = span(found.low, found.high, unit_of(item.about.metric), signed=True)
    ends += ", by ranks" if item.claimed and item.difference.is_by_ranks else ""
    verdict = "as two builds differ" if item.is_of_build else words.verdict
    said = [Cell(text, look) for text in (words.difference, ends, words.relative, words.size)]
    return Row((item.pair.spec, words.load, words.metric, a, b, *said, str(item.seeds), Cell(verdict, look)))


def _pauses(pauses: Sequence[ChangedPause]) -> Table:
    columns = (Column("spec"), Column("load"), Column("seed"), Column("A", "prose"), Column("B", "prose"))
    rows = ((item.pair.spec, item.load, f"seed {item.seed}", item.before.words, item.after.words) for item in pauses)
    return Table(columns, tuple(map(Row, rows)))


def _commands(pauses: Sequence[ChangedPause]) -> Lines:
    def command(item: ChangedPause, pause: Pause) -> str:
        return f"wblab why runs/{pause.run} --load {item.load}"

    return Lines(tuple(command(item, pause) for item in pauses for pause in (item.before, item.after)))


def _notes(found: KernelsResult) -> Iterator[str]:
    """Yield what a reader should know."""
    rows, (fewest, most) = found.figures.rows, found.seeds
    if found.missing:
        yield f"{found.missing} runs failed: the figures are of the others"
    if any(row.is_of_build for row in rows):
        yield f"as two builds differ: {OF_BUILDS}"
    yield from footnotes(found.figures.whole) if found.figures.whole else ()
    yield f"{f'{most} seeds' if fewest == most else f'{fewest} to {most} seeds'} of each side"
    yield trust(found)
