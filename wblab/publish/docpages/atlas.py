"""The atlas as Markdown: where kernels differ; and with a table for each source and filesystem."""

from collections.abc import Sequence

from wblab.analysis.statistics.decision import OUTCOMES
from wblab.publish.docpages.markdown import legend, markdown, middle
from wblab.report.palette import look_of
from wblab.report.report import Span
from wblab.study.designs.atlas.made import Made
from wblab.study.designs.atlas.report import NOT_MADE, Atlas
from wblab.study.sources.changes import Change


def short(made: Sequence[Made]) -> str:
    """Return where kernels differ: the outcome and the middle of the figure on each."""
    found = Atlas(made, _about, middle, is_whole=False)
    more = "The pages of `make docs` have every claim on every kernel here, with its interval or reason."
    return "\n".join([*_legend(found), "", more, "", *markdown(found.differing())])


def whole(made: Sequence[Made]) -> str:
    """Return where kernels differ, and then a table for each source and filesystem."""
    found = Atlas(made, _about)
    about = (
        "A figure is the mean over seeds with its 95 % interval, as in",
        "[the results of the claims](results-of-claims.md).",
        *found.about_cells(),
    )
    parts = markdown((*found.missing(), *found.differing(), *found.sources(overview=False)))
    return "\n".join([*_legend(found), *about, "", *parts])


def _legend(found: Atlas) -> Sequence[str]:
    """Return what was tested, and the signs of outcomes."""
    return (
        found.tested(),
        f"{legend(*map(look_of, OUTCOMES), NOT_MADE)} *Not decided* means too few seeds: more may decide it.",
        "*Not testable* means that no number of seeds would help.",
    )


def _about(change: Change) -> Span:
    return Span("what it did", link=f"../{change.finding}")
