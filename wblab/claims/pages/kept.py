"""The results that pages show, as compact data in `experiments/measured`: a line for each claim or expectation.

`docs/results.py` writes the files from what `wblab study`, `wblab study` and `wblab study atlas` made.
"""

import json
import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

from wblab.analysis.statistics.decision import NOT_TESTABLE
from wblab.claims.atlas.atlaslines import AtlasCell, Column, all_lines, columns_of
from wblab.claims.atlas.made import MadeTarget
from wblab.claims.atlas.target import FILESYSTEMS, SOURCES, AtlasRow, Target
from wblab.claims.sources.registry import WORKS
from wblab.claims.trial.report import asked_lines, cost_text, others_text, worst_text
from wblab.claims.trial.result import TrialResult
from wblab.claims.verify.result import figure_text
from wblab.core.errors import InputError
from wblab.lab.formats import Format
from wblab.lab.held import replace_file
from wblab.lab.places import MEASURED
from wblab.study.statement import Effect

CLAIMS, RECOMMENDATIONS, ATLAS = (MEASURED / f"{name}.json" for name in ("claims", "recommendations", "atlas"))
_CLAIMS = Format("the results of the claims", 1, ("claims",))
_RECOMMENDATIONS = Format("the results of the recommendations", 1, ("recommendations",))
_ATLAS = Format("the results of the atlas", 1, ("atlas",))
Found = TypeVar("Found")
_BUILD = 16  # letters of a kernel's build that a page shows


@dataclass(frozen=True)
class ClaimRow:
    """The verdict on a claim.

    figure: empty if there is none. what: what was measured and expected, or why nothing was.
    """

    name: str
    verdict: str
    figure: str
    what: str


@dataclass(frozen=True)
class Verified:
    """The claims of a work, verified on one kernel; seeds: runs of each case."""

    work: str
    release: str
    build: str
    seeds: int
    rows: tuple[ClaimRow, ...]


@dataclass(frozen=True)
class TrialRow:
    """An expectation of a recommendation; says is empty if it has none.

    key: the recommendation's number. counts: in how many scenarios it was reproduced, of all. worst: the figure that
    decides. others, cost: what the setting does to light writers' longest pause and to the heavy writer's rate.
    """

    key: str
    setting: str
    says: str
    verdict: str
    counts: str
    worst: str
    others: str
    cost: str


@dataclass(frozen=True)
class TrialPage:
    """A trial of all recommendations. seeds: the most of one cell; tried: how many combinations; asked: refusals."""

    release: str
    build: str
    runs: int
    seeds: int
    tried: int
    asked: tuple[str, ...]
    rows: tuple[TrialRow, ...]


def verified(found: Mapping[str, Any]) -> Verified:
    """Return a verification, as its verdicts.json has it."""
    kernel = found["kernel"]
    rows = tuple(map(_claim_row, found["claims"]))
    return Verified(found["work"], kernel["release"], kernel["build_id"][:_BUILD], found["seeds"], rows)


def _claim_row(claim: Mapping[str, Any]) -> ClaimRow:
    effect = claim["effect"]
    expected = claim["why"].partition(";")[0]  # see wblab.claims.sources.claim.judge
    what = f"{effect['what']}. {expected}" if effect else claim["why"]
    what += f". {claim['changed']}" if claim.get("changed") else ""
    return ClaimRow(claim["name"], claim["verdict"], _effect_text(effect), what)


def _effect_text(found: Mapping[str, Any] | None) -> str:
    """Return the text of an effect as verdicts.json has it, where null stands for what is not finite."""
    if found is None:
        return ""
    finite: dict[str, Any] = {key: math.inf if value is None else value for key, value in found.items()}
    return figure_text(Effect(**finite))


def trial(result: TrialResult) -> TrialPage:
    """Return the result of a trial."""
    kernel, rows = result.kernel, []
    for key, (entry, value) in result.wisdom.values().items():
        everywhere = [item for item in result.tried if item.key == key]
        figures = (others_text(everywhere), cost_text(everywhere)) if value.is_setting else ("", "")
        setting = f"{entry.who}: {value.name}"
        own = [
            TrialRow(key, setting, row.expectation.says, row.outcome, row.counts, worst_text(row), *figures)
            for row in result.rows
            if row.key == key
        ]
        rows += own or [TrialRow(key, setting, "", "", "", "", *figures)]
    asked = tuple(asked_lines(result.answers, result.wisdom))
    build = str(kernel["build_id"])[:_BUILD]
    return TrialPage(str(kernel["release"]), build, result.runs, result.seeds, len(result.tried), asked, tuple(rows))


def read_claims(path: Path = CLAIMS) -> list[Verified]:
    """Return the verified works, in their order. Raises InputError."""
    content = _CLAIMS.read(path)
    try:
        works = [_verified(one, content["rows"]) for one in content["works"]]
    except (KeyError, TypeError, ValueError) as error:
        raise _damaged(path, error) from None
    return sorted(works, key=lambda one: list(WORKS).index(one.work))


def _verified(about: Mapping[str, Any], rows: Iterable[Sequence[str]]) -> Verified:
    own = tuple(ClaimRow(*row) for work, *row in rows if work == about["work"])
    return Verified(**about, rows=own)


def write_claims(found: Iterable[Verified], path: Path = CLAIMS) -> None:
    """Write verified works; others that the file has stay. Raises InputError, OSError."""
    works = _by(lambda one: one.work, read_claims(path) if path.is_file() else [], found)
    works.sort(key=lambda one: list(WORKS).index(one.work))
    rows = [[one.work, *asdict(row).values()] for one in works for row in one.rows]
    _write(_CLAIMS, path, {"works": [_without_rows(one) for one in works]}, rows)


def read_trial(path: Path = RECOMMENDATIONS) -> TrialPage:
    """Return the results of the recommendations. Raises InputError."""
    content = _RECOMMENDATIONS.read(path)
    try:
        about, rows = dict(content["trial"]), tuple(TrialRow(*row) for row in content["rows"])
        return TrialPage(**about | {"asked": tuple(about["asked"])}, rows=rows)
    except (KeyError, TypeError, ValueError) as error:
        raise _damaged(path, error) from None


def write_trial(found: TrialPage, path: Path = RECOMMENDATIONS) -> None:
    """Write the results of the recommendations. Raises OSError."""
    _write(_RECOMMENDATIONS, path, {"trial": _without_rows(found)}, [list(asdict(row).values()) for row in found.rows])


def read_atlas(path: Path = ATLAS) -> list[MadeTarget]:
    """Return the targets of the atlas, in its order. A row says why only if it is not testable. Raises InputError."""
    content = _ATLAS.read(path)
    rows: dict[Target, list[AtlasRow]] = {}
    try:
        columns: list[Column] = [(series, filesystem) for series, filesystem in content["columns"]]
        for source, name, about, says, reasons, *cells in content["rows"]:
            for column, cell in zip(columns, cells, strict=True):
                if cell is not None:
                    rows.setdefault(Target(*column, source), []).append(_atlas_row(name, about, says, reasons, cell))
        targets = [one for column in columns for source in SOURCES if (one := Target(*column, source)) in rows]
        return [MadeTarget(target, content["releases"][target.series], tuple(rows[target])) for target in targets]
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise _damaged(path, error) from None


def _atlas_row(name: str, about: str, says: str, reasons: Sequence[str], cell: Sequence[Any]) -> AtlasRow:
    if isinstance(cell[1], int):
        return AtlasRow(name, about, says, cell[0], reasons[cell[1]], "")
    verdict, figure, seeds = cell
    return AtlasRow(name, about, says, verdict, "", "", figure, seeds)


def write_atlas(found: Iterable[MadeTarget], series: Sequence[str], path: Path = ATLAS) -> None:
    """Write targets of the atlas; others that the file has stay. series: in the atlas's order. Raises InputError."""
    made = _by(lambda one: one.target, read_atlas(path) if path.is_file() else [], found)
    made.sort(key=lambda one: _place(one.target, series))
    columns = columns_of(made)
    rows = []
    for source, lines in all_lines(made, columns).items():
        for line in lines:
            untestable = [one.row for one in line.cells if one.row and one.row.verdict == NOT_TESTABLE]
            reasons = list(dict.fromkeys(row.why for row in untestable))
            rows.append(
                [source, line.name, line.about, line.says, reasons, *(_cell(one, reasons) for one in line.cells)]
            )
    head = {"releases": {one.target.series: one.release for one in made}, "columns": columns}
    _write(_ATLAS, path, head, rows)


def _cell(cell: AtlasCell, reasons: Sequence[str]) -> list[Any] | None:
    """Return a cell: verdict, figure and seeds; or verdict and the number of the reason; None if it is not made."""
    if cell.row is None:
        return None
    if cell.row.verdict == NOT_TESTABLE:
        return [NOT_TESTABLE, reasons.index(cell.row.why)]
    return [cell.row.verdict, cell.row.figure, cell.row.seeds]


def _place(target: Target, series: Sequence[str]) -> tuple[int, int, int]:
    return series.index(target.series), FILESYSTEMS.index(target.filesystem), SOURCES.index(target.source)


def _without_rows(found: Verified | TrialPage) -> dict[str, Any]:
    return {key: value for key, value in asdict(found).items() if key != "rows"}


def _by(key: Callable[[Found], Hashable], kept: Iterable[Found], found: Iterable[Found]) -> list[Found]:
    """Return what was kept, with what was found anew in place of its former."""
    return list({key(one): one for one in (*kept, *found)}.values())


def _write(form: Format, path: Path, about: Mapping[str, Any], rows: Iterable[Sequence[Any]]) -> None:
    """Write a file with a line for each row, so that its changes can be read."""
    head = json.dumps(form.head() | dict(about) | {"rows": []}, ensure_ascii=False).removesuffix("]}")
    lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    with replace_file(path) as file:
        file.write(f"{head}\n{lines}\n]}}\n".encode())


def _damaged(path: Path, error: Exception) -> InputError:
    return InputError(f"{path} is damaged ({type(error).__name__}: {error})")
