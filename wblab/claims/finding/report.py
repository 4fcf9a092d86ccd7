"""A finding as a report: as the lab keeps it, and as its runs show it when they are made again."""

from collections.abc import Iterator, Sequence

from wblab.claims.finding.finding import Finding
from wblab.claims.finding.kept import Judged, Kept, judged
from wblab.claims.finding.words import judged_json, judged_words
from wblab.claims.outside import Seen, of_page
from wblab.report.palette import NOT_REPRODUCED, REPRODUCED
from wblab.report.quantities import spread
from wblab.report.report import Block, Column, Points, Report, Row, Section, Span, Table

_ELSEWHERE = (
    "Elsewhere (stock:7.2@4 is Debian's kernel in QEMU with four processors, 7.2+smp@4 the lab's by the host's clock)"
)


def report(name: str, finding: Finding, kept: Kept) -> Report:
    """Return the report of a finding as the lab keeps it."""
    found = judged(finding, kept)
    seen = [(statement.text, one) for statement, answers in of_page(f"{name}.md") for one in answers]
    ends = [f"Since when: {finding.since}", f"Who pays: {finding.pays}", f"What helps: {finding.helps}"]
    if finding.proposal:
        ends.append(f"Proposal: the variant {finding.proposal} of the lab's kernels.")
    return Report(
        title=finding.title,
        headline=f"{finding.title}.",
        blocks=(
            finding.claim,
            Points(tuple(f"{one.statement.text}: {judged_words(one, finding)}" for one in found)),
            *_elsewhere(seen),
            Points(tuple(ends)),
        ),
        command=f"wblab study {name}",
        data={
            "name": name,
            "title": finding.title,
            "claim": finding.claim,
            "since": finding.since,
            "statements": judged_json(found, finding),
            "outside": [
                {"statement": text, "substrate": one.substrate, "release": one.release, "holds": one.holds,
                 "longest_pause_s": list(one.longest_s)}
                for text, one in seen
            ],
            "pays": finding.pays,
            "helps": finding.helps,
            "proposal": finding.proposal,
        },
    )  # fmt: skip


def repeated(finding: Finding, before: Kept, now: Kept, directories: Sequence[str]) -> Report:
    """Return which statements hold in runs made now, beside what is kept. directories: of the runs."""
    found, known = judged(finding, now), {one.statement.text: one for one in judged(finding, before)}
    holding = sum(one.holds for one in found)
    columns = (Column(""), Column("statement", "prose"), Column("here", "prose"), Column("kept", "prose"))
    return Report(
        title=finding.title,
        headline=f"{holding} of {len(found)} statements hold in every run.",
        blocks=(Table(columns, tuple(_statement(one, known.get(one.statement.text), finding) for one in found)),),
        data={"directories": list(directories), "statements": judged_json(found, finding)},
    )


def _statement(one: Judged, was: Judged | None, finding: Finding) -> Row:
    verdict = Span("holds", REPRODUCED.style) if one.holds else Span("DOES NOT HOLD", NOT_REPRODUCED.style)
    same = "; the same to the bit" if was and was.values[: len(one.values)] == one.values else ""
    kept = f"{judged_words(was, finding)}{same}" if was else ""
    return Row((verdict, one.statement.text, judged_words(one, finding), kept))


def _elsewhere(seen: Sequence[tuple[str, Seen]]) -> Iterator[Block]:
    """Yield what was confirmed outside of User Mode Linux: each statement once, with all substrates below it."""
    found: dict[str, dict[str, Seen]] = {}
    for text, one in seen:
        found.setdefault(text, {})[one.substrate] = one
    rows: list[Row | str] = []
    for text, by_substrate in found.items():
        rows.append(text)
        rows += [Row((name, one.holds, spread(one.longest_s, "s"))) for name, one in by_substrate.items()]
    if rows:
        columns = (Column("kernel"), Column("holds"), Column("longest pause", "number"))
        yield Section(_ELSEWHERE, (Table(columns, tuple(rows)),))
