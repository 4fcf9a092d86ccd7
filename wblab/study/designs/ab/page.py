"""A comparison of kernels as a page: one HTML file that needs no other file and no network."""

from collections.abc import Iterator
from dataclasses import dataclass

from wblab import __version__
from wblab.report import quantities
from wblab.report.render import render
from wblab.study.designs.ab.figures import Figures
from wblab.study.designs.ab.mail import mail
from wblab.study.designs.ab.plan import Step
from wblab.study.designs.ab.result import Result
from wblab.study.designs.ab.text import notes
from wblab.study.designs.ab.why import Changed
from wblab.study.designs.ab.words import Row, counts, headline, of_figures, row


@dataclass(frozen=True)
class Section:
    """One step on the page. kernels: name, label, release, source, build. largest: of a summary's row."""

    number: int
    subject: str
    largest: str
    kernels: list[tuple[str, str, str, str, str]]
    step: Step
    claimed: list[Row]
    others: list[Row]
    counts: str
    headline: str
    level: str
    pauses: list[Changed]


def page(found: Result) -> str:
    """Return the page."""
    states = found.asked.states
    return render(
        "wblab.study.designs.ab",
        "ab.html",
        title=f"{states[-1].label} against {states[0].label}",
        headline=headline(found),
        sections=list(_sections(found)),
        notes=notes(found),
        mail="\n".join(mail(found)),
        specs=list(found.specs.items()),
        command=found.asked.command,
        version=__version__,
    )


def _sections(found: Result) -> Iterator[Section]:
    for number, step in enumerate(found.asked.steps):
        figures, pauses = found.of(number)
        rows = [row(item) for item in figures.rows]
        yield Section(
            number=number + 1,
            subject=found.asked.states[step.after].subject,
            largest=_largest(found, step, figures),
            kernels=[_kernel(found, name, place) for name, place in (("A", step.before), ("B", step.after))],
            step=step,
            claimed=[item for item in rows if item.claimed],
            others=[item for item in rows if not item.claimed],
            counts=counts(figures),
            headline=_headline(found, step, figures),
            level=quantities.confidence(figures.rows[0].difference.confidence) if figures.rows else "",
            pauses=pauses,
        )


def _headline(found: Result, step: Step, figures: Figures) -> str:
    """Return what is said of a step without claims; of a single one the page's headline says it."""
    if len(found.asked.steps) == 1:
        return ""
    return of_figures(figures) if figures.rows else "Nothing was run: the program is the same, byte for byte."


def _largest(found: Result, step: Step, figures: Figures) -> str:
    if found.asked.same_program(step):
        return "the same program, byte for byte"
    if not figures.claimed:
        return "no difference is shown"
    words = row(figures.claimed[0])
    return f"{words.spec}, {words.load}, {words.metric}: {words.b} instead of {words.a}"


def _kernel(found: Result, name: str, place: int) -> tuple[str, str, str, str, str]:
    state, kernel = found.asked.states[place], found.kernels[place]
    return name, state.label, str(kernel["release"]), str(kernel["source"]), str(kernel["build_id"])[:12]
