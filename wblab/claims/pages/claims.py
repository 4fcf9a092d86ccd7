"""Findings, and the results of claims and recommendations on each kernel, as Markdown: short, or with all figures."""

from collections import Counter
from collections.abc import Iterator, Sequence

from wblab.analysis.statistics.decision import HARMS, NOT_DECIDED, NOT_REPRODUCED, NOT_TESTABLE, OUTCOMES, REPRODUCED
from wblab.claims.atlas.made import MadeTarget
from wblab.claims.atlas.report import NOT_MADE, Atlas
from wblab.claims.finding.excerpt import FILE as TRACE
from wblab.claims.finding.fill import filled
from wblab.claims.finding.words import markdown as markdown_table
from wblab.claims.pages.kept import ClaimRow, TrialPage, TrialRow, Verified
from wblab.claims.pages.markdowntables import legend, markdown, plain, table
from wblab.claims.sources.changes import KernelChange
from wblab.claims.sources.registry import WORKS
from wblab.core.errors import WblabError
from wblab.lab.places import FINDINGS, SHARE
from wblab.report.palette import look_of
from wblab.report.report import Span

# The pages of findings, from their templates in experiments/findings: the first part, or all.

_PAGE = "page.md"
_PLACE = "../.."  # of the lab, from a page of findings


def short_finding(name: str) -> str:
    """Return what was found and what repeats it, and where the rest of the page is. Raises InputError."""
    finding, again, *rest = whole_finding(name).split("\n## ")
    heads = ", ".join(f"*{part.partition(chr(10))[0]}*" for part in rest)
    template = f"{_PLACE}/{(FINDINGS / name / _PAGE).relative_to(SHARE)}"
    more = f"The pages of `make docs` go on here: {heads}. [Their text, without tables]({template})."
    return f"{finding}\n## {again}\n{more}\n"


def whole_finding(name: str) -> str:
    """Return a finding's page, whose tables have medians and ranges. Raises InputError."""
    directory = FINDINGS / name
    trace = directory / TRACE
    indented = "\n".join(f"    {line}".rstrip() for line in trace.read_text().splitlines()) if trace.is_file() else ""
    return filled(directory, (directory / _PAGE).read_text(), markdown_table, trace=indented)


_OF_TRIAL = (REPRODUCED, NOT_REPRODUCED, HARMS, NOT_DECIDED)
_WRONG = (NOT_REPRODUCED, HARMS)
_OF_WORKS = (REPRODUCED, NOT_REPRODUCED, NOT_DECIDED, NOT_TESTABLE)


def short_claims(found: Sequence[Verified]) -> str:
    """Return for each work the claims that are not so, which say the same in one line, and the names of all others."""
    more = "The pages of `make docs` have here what each says, and its figure."
    lines = [f"What did not come out is said; of other claims there are the names. {more}", ""]
    for one in found:
        says = _says(one.work)
        together: dict[str, list[str]] = {}
        for row in one.rows:
            if row.verdict in _WRONG:
                together.setdefault(_said(row, says), []).append(f"`{row.name}`")
        wrong = (
            f"- {look_of(NOT_REPRODUCED).sign} {', '.join(names)}: {plain(said)}" for said, names in together.items()
        )
        lines += [*_head(one), *wrong, *_names(one), ""]
    return "\n".join(lines)


def _names(one: Verified) -> Iterator[str]:
    for outcome in OUTCOMES:
        names = ", ".join(f"`{row.name}`" for row in one.rows if row.verdict == outcome)
        if names and outcome not in _WRONG:
            yield f"- {look_of(outcome).sign} {outcome}: {names}"


def works(found: Sequence[Verified]) -> str:
    """Return a table of how many claims of each work, and of all, came out how."""
    counts = {WORKS[one.work].title: Counter(row.verdict for row in one.rows) for one in found}
    counts["all"] = sum(counts.values(), Counter())
    rows = [(title, str(each.total()), *(str(each[sort]) for sort in _OF_WORKS)) for title, each in counts.items()]
    return "\n".join(table(("work", "claims", *_OF_WORKS), rows))


def whole_claims(found: Sequence[Verified]) -> str:
    """Return a table for each work, with each claim's figure, and what was measured and expected."""
    lines = [
        "A figure is the mean over seeds with its 95 % interval; of times and ratios it is the geometric mean. If a",
        "figure is not finite in every run, or about 0 in all, it is the median with the least and the greatest.",
        "",
    ]
    for one in found:
        says = _says(one.work)
        rows = (
            (f"`{row.name}`: {plain(_said(row, says))}", row.verdict, row.figure, plain(row.what)) for row in one.rows
        )
        heads = ("claim", "verdict", "figure", "what was measured and expected, or why it was not")
        lines += [*_head(one), *table(heads, rows)]
    return "\n".join(lines)


def _head(one: Verified) -> Iterator[str]:
    counts = Counter(row.verdict for row in one.rows)
    outcomes = ", ".join(f"{counts[outcome]} {outcome}" for outcome in OUTCOMES if counts[outcome])
    where = f"Linux {one.release}, kernel build `{one.build}`, {one.seeds} seeds"
    yield from (f"## {WORKS[one.work].title}", "", f"`wblab study {one.work}`, {where}: {outcomes}.", "")


def _says(work: str) -> dict[str, str]:
    return {claim.name: claim.says for claim in WORKS[work].claims}


def _said(row: ClaimRow, says: dict[str, str]) -> str:
    if row.name not in says:
        raise WblabError(f"the results have a claim {row.name} that no work makes: run make results")
    return says[row.name]


def short_trial(found: TrialPage) -> str:
    """Return a table with a line for each recommendation: what it should do, and whether it does."""
    lines = [*_counts(found), f"{legend(*map(look_of, _OF_TRIAL))} The pages of `make docs` have the figures here.", ""]
    rows = ((key, plain(own[0].setting), "; ".join(map(_judged, own))) for key, own in _by_key(found))
    return "\n".join([*lines, *table(("", "source and setting", "what it should do"), rows)])


def whole_trial(found: TrialPage) -> str:
    """Return a table with each expectation's deciding figure, and what each setting does beside."""
    lines = [
        *_counts(found),
        "The count after a verdict is the number of scenarios, with their scalings, in which the expectation holds.",
        "× is a ratio to the default, with its 95 % interval.",
        "",
    ]
    heads = ("source and setting", "expectation", "verdict", "worst scenario")
    effects = ("light writers' longest pause", "heavy writer's rate")
    rows = [row for _, own in _by_key(found) for row in _expectations(own)]
    asked = [f"- {line}" for line in found.asked]
    refused = ["Settings that the kernel does not accept as published:", "", *asked, ""] if asked else []
    return "\n".join([*lines, *table(("", *heads, *effects), rows), *refused])


def _expectations(own: Sequence[TrialRow]) -> Iterator[Sequence[str]]:
    """Yield the rows of a recommendation; what is the same for all stands in the first."""
    for place, row in enumerate(own):
        verdict = f"{row.verdict}, {row.counts}" if row.verdict else ""
        first, last = ((row.key, row.setting), (row.others, row.cost)) if not place else (("", ""), ("", ""))
        yield [*first, row.says, verdict, row.worst, *last]


def _counts(found: TrialPage) -> Iterator[str]:
    outcomes = Counter(row.verdict for row in found.rows if row.verdict)
    yield f"On Linux {found.release} with the lab's patches (kernel build `{found.build}`): {found.runs:,} runs, up to"
    yield f"{found.seeds} seeds for each of {found.tried} combinations of setting, scenario and scaling. Of"
    yield f"{outcomes.total()} expectations: {', '.join(f'{outcomes[name]} {name}' for name in _OF_TRIAL)}."
    yield ""


def _by_key(found: TrialPage) -> Iterator[tuple[str, list[TrialRow]]]:
    for key in dict.fromkeys(row.key for row in found.rows):
        yield key, [row for row in found.rows if row.key == key]


def _judged(row: TrialRow) -> str:
    return f"{look_of(row.verdict).sign} {plain(row.says)}" if row.says else ""


# The atlas: where kernels differ; and with a table for each source and filesystem.


def short_atlas(made: Sequence[MadeTarget]) -> str:
    """Return where kernels differ: the outcome on each."""
    found = Atlas(made, _change, is_whole=False)
    more = "The pages of `make docs` have every claim on every kernel here, with its interval or reason."
    return "\n".join([found.agreement(), "", *_tested(found), "", more, "", *markdown(found.differing())])


def whole_atlas(made: Sequence[MadeTarget]) -> str:
    """Return where kernels differ, and then a table for each source and filesystem."""
    found = Atlas(made, _change)
    about = (
        "A figure is the mean over seeds with its 95 % interval, as in ",
        Span("the results of the claims", link="results-of-claims.md"),
        f". {' '.join(found.about_cells())}",
    )
    parts = markdown((*found.differing(), about, *found.missing(), *found.sources(overview=False)))
    return "\n".join([found.agreement(), "", *_tested(found), "", *parts])


def _tested(found: Atlas) -> Sequence[str]:
    """Return what was tested, and the signs of outcomes."""
    return (
        found.tested(),
        f"{legend(*map(look_of, OUTCOMES), NOT_MADE)} *Not decided* means too few seeds: more may decide it.",
        "*Not testable* means that no number of seeds would help.",
    )


def _change(change: KernelChange) -> Span:
    return Span("what it did", link=f"../{change.finding}")
