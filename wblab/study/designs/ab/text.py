"""A comparison of kernels as text of 80 columns, for a terminal and for a file."""

import textwrap
from collections.abc import Iterator, Sequence

from wblab.analysis.runs.builds import NOTE
from wblab.lab.printable import printable
from wblab.lab.tables import Table
from wblab.report import quantities
from wblab.report.comparisontext import footnotes
from wblab.study.designs.ab.claims import claims
from wblab.study.designs.ab.differs import Differs
from wblab.study.designs.ab.figures import Figures
from wblab.study.designs.ab.mail import mail
from wblab.study.designs.ab.plan import Step
from wblab.study.designs.ab.result import Result
from wblab.study.designs.ab.why import Changed
from wblab.study.designs.ab.words import counts, headline, row, seeds, trust

WIDTH = 80
_MOST_ROWS = 24
_MOST_OPTIONS = 12
_INDENT = "  "


def text(found: Result) -> list[str]:
    """Return the whole text, a line each."""
    asked = found.asked
    lines = [*wrapped(headline(found)), ""]
    if len(asked.steps) == 1:
        lines += _step(found, 0)
    else:
        lines += _summary(found)
        for number, step in enumerate(asked.steps):
            if found.figures.of(number).claimed:
                lines += ["", *wrapped(f"Step {number + 1}: {_title(found, step)}"), "", *_step(found, number)]
    lines += ["", "What to know", *(line for note in notes(found) for line in wrapped(f"- {note}", _INDENT))]
    return [*lines, "", "For a mail", "", *mail(found)]


def wrapped(said: str, indent: str = "") -> list[str]:
    """Return a text in lines that fit."""
    return textwrap.wrap(printable(said), WIDTH, subsequent_indent=indent) or [""]


def notes(found: Result) -> list[str]:
    """Return what a reader should know, a note each."""
    whole = found.figures.whole
    missing = [f"{found.missing} runs failed: the figures are of the others"] if found.missing else []
    of_build = [f"as two builds differ: {NOTE}"] if any(row.is_of_build for row in found.figures.rows) else []
    of_tests = [*of_build, *(footnotes(whole) if whole else [])]
    return [*missing, *found.memory, *of_tests, f"{seeds(found)} of each side", trust(found)]


def other_than_figures(differs: Differs) -> Iterator[tuple[str, list[str]]]:
    """Yield what differs besides figures: a head and its lines."""
    yield "source", list(differs.source)
    options = [f"{item.name}: {item.a} -> {item.b}" for item in differs.options]
    more = len(options) - _MOST_OPTIONS
    yield "options", [*options[:_MOST_OPTIONS], *([f"and {more} more, on the page"] if more > 0 else [])]
    patches = [(side, [name.removesuffix(".patch") for name in names])
               for side, names in (("A", differs.only_a), ("B", differs.only_b))]  # fmt: skip
    yield "patches of the lab", [f"only {side}: {', '.join(names)}" for side, names in patches if names]
    yield "features", [f"{item.name}: {item.a} -> {item.b}" for item in differs.features]


def _title(found: Result, step: Step) -> str:
    return found.asked.states[step.after].subject


def _summary(found: Result) -> list[str]:
    """Return a table of all steps: which changed what."""
    rows = []
    for number, step in enumerate(found.asked.steps):
        claimed = found.figures.of(number).claimed
        if found.asked.same_program(step):
            said = "the same program, byte for byte"
        elif claimed:
            words = row(claimed[0])
            said = f"{words.spec} {words.load} {words.metric}: {words.a} -> {words.b}"
        else:
            said = "no difference is shown"
        rows.append(
            (str(number + 1), str(len(claimed)), textwrap.shorten(_title(found, step), 30, placeholder="…"), said)
        )
    return Table(rows, ("step", "differ", "change", "largest"), frozenset({0, 1})).lines()


def _step(found: Result, number: int) -> list[str]:
    step, (figures, pauses) = found.asked.steps[number], found.of(number)
    lines = []
    for name, place in (("A", step.before), ("B", step.after)):
        state, kernel = found.asked.states[place], found.kernels[place]
        lines += wrapped(f"{name}: {state.label} (Linux {kernel['release']}; build {kernel['build_id'][:12]})", "   ")
    lines += ["", "What differs besides figures"]
    for head, said in other_than_figures(step.differs):
        lines += wrapped(f"- {head}: {'nothing' if not said else said[0] if len(said) == 1 else ''}".rstrip(), _INDENT)
        if len(said) > 1:
            lines += [line for each in said for line in wrapped(f"    {each}", "      ")]
    lines += ["", *_figures(figures)]
    return lines + (["", *_pauses(pauses)] if pauses else [])


def _figures(found: Figures) -> list[str]:
    claimed = found.claimed
    if not claimed:
        return [f"What differs in figures: {counts(found)}"]
    level = quantities.confidence(claimed[0].difference.confidence)
    more = [f"and {len(claimed) - _MOST_ROWS} more, on the page"] if len(claimed) > _MOST_ROWS else []
    head = wrapped(f"What differs in figures: {counts(found)}. Means, and the {level} interval of their difference:")
    return [*head, "", *claims(claimed[:_MOST_ROWS], WIDTH, numbered=False), *more]


def _pauses(pauses: Sequence[Changed]) -> list[str]:
    lines = ["Why: the longest pause of each load that changed"]
    for item in pauses:
        lines += wrapped(f"- {item.pair.spec}, {item.load}, seed {item.seed}", _INDENT)
        lines += wrapped(f"    A  {item.before.words}", "       ") + wrapped(f"    B  {item.after.words}", "       ")
    return lines
