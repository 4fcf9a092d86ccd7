"""Whether something was the same to the bit when it was made again, as reports."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from wblab.analysis.runs.difference import Difference
from wblab.report.palette import NOT_REPRODUCED, REPRODUCED
from wblab.report.report import Block, Column, Lines, Report, Row, Section, Span, Table
from wblab.study.designs.repeat.audit import Audit
from wblab.study.designs.repeat.expected import Compared
from wblab.study.designs.repeat.golden import Golden, Verdict
from wblab.study.inputs import reason

_TITLE = "Is it the same to the bit?"
_SHOWN = 3  # differences of two runs
_MOST = 20  # runs that are listed


def of_runs(first: Path, second: Path, differences: Sequence[Difference], excuses: Sequence[str]) -> Report:
    """Return whether two runs are the same. excuses: reasons why they may differ."""
    return Report(
        title=_TITLE,
        headline="The runs differ." if differences else "Identical: every cycle of every load, and every event.",
        blocks=(_named(("first", str(first)), ("second", str(second))), *_different(differences)),
        notes=tuple(f"{excuse}." for excuse in excuses),
        data={
            "first": str(first),
            "second": str(second),
            "differences": [asdict(item) for item in differences],
            "excuses": list(excuses),
        },
    )


def _different(differences: Sequence[Difference]) -> Iterator[Block]:
    for item in differences[:_SHOWN]:
        yield Section(
            f"{item.what}, at {item.at_s:.9f} s", (_lines("first:", item.first), _lines("second:", item.second))
        )
    if left := [item.what for item in differences[_SHOWN:]]:
        yield f"And later: {'; '.join(left)}."


def _lines(head: str, lines: Sequence[str]) -> Section:
    return Section(head, (Lines(tuple(lines)),))


def of_digests(first: Mapping[str, str], recorded: str, made: Path, second: str, inputs: Sequence[str]) -> Report:
    """Return whether a run is the one that a row or a record describes. first: what that is, by names.

    recorded, second: the two digests. inputs: names of the inputs that differ.
    """
    same = "Identical: the digest of every cycle of every load, and every event."
    return Report(
        title=_TITLE,
        headline=same if second == recorded else "The new run is another.",
        blocks=(_named(*first.items(), ("recorded", recorded), ("new run", str(made)), ("its digest", second)),),
        data={**first, "second": str(made), "digests": [recorded, second], "different_inputs": list(inputs)},
    )


def of_share(study: Path, directory: Path, found: Audit) -> Report:
    """Return how many of a study's runs were the same. directory: of those made again."""
    same, other = len(found.same), len(found.differing)
    rate = found.rate if found.compared else None
    shown = [f"{100 * value:.3g}" for value in rate or ()]
    said = "{} % of such runs are identical to the bit ({} to {} %, confidence 95 %)."
    rows = [(name, "differs", reason(inputs)) for name, inputs in found.differing.items()]
    rows += [(name, "failed", why) for name, why in found.failed.items()]
    table = Table((Column("run"), Column(""), Column("", "prose")), tuple(map(Row, rows)), _MOST)
    return Report(
        title=_TITLE,
        headline=f"{found.compared} of {found.runs:,} runs made again: {same} identical, {other} different.",
        blocks=(*([said.format(*shown)] if rate else []), table),
        data={"study": str(study), "directory": str(directory), "runs": found.runs, "compared": found.compared}
        | dict(zip(("rate", "low", "high"), rate or (None, None, None), strict=True))
        | {"identical": same, "different": dict(found.differing), "failed": dict(found.failed)},
    )


def of_series(found: Mapping[str, Sequence[Compared]]) -> Report:
    """Return how the presets of series compare with what is expected of them."""
    every = [(name, one) for name, some in found.items() for one in some]
    rows = [Row((name, one.preset, _look(str(one), fits=one.fits))) for name, one in every]
    return Report(
        title="The presets, beside what is expected of them",
        headline=f"{sum(one.fits for _, one in every)} of {len(every)} runs are as expected.",
        blocks=(Table((Column("series"), Column("preset"), Column("", "prose")), tuple(rows)),),
        data={"series": {name: [_compared_json(one) for one in some] for name, some in found.items()}},
    )


def _compared_json(one: Compared) -> dict[str, object]:
    verdict = {"same": one.verdict.same, "differing": one.verdict.differing, "strange": one.strange}
    return {"preset": one.preset, "fits": one.fits} | verdict


def of_base(directory: Path, new: Golden, verdict: Verdict | None) -> Report:
    """Return how the base run compares with those of other machines. verdict: None if it was recorded for them."""
    about: dict[str, object] = {"directory": str(directory), "digest": new.digest}
    if verdict is None:
        said, about = "Recorded for other machines.", {"directory": str(directory), "noted": asdict(new)}
    else:
        said = f"{str(verdict)[0].upper()}{str(verdict)[1:]}."
        about |= {"nearest": verdict.nearest.on, "same": verdict.same, "differing": verdict.differing}
    return Report(_TITLE, said, (_named(("run", str(directory)), ("digest", new.digest)),), data=about)


def _named(*rows: tuple[str, str]) -> Table:
    return Table((Column(""), Column("")), tuple(map(Row, rows)))


def _look(text: str, *, fits: bool) -> Span:
    return Span(text, (REPRODUCED if fits else NOT_REPRODUCED).style)
