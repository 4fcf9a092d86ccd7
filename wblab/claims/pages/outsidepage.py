"""What holds outside of User Mode Linux, as Markdown: what each place says of a statement, and by which runs."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from wblab.claims.outside import OfStudy, Seen, Statements, said, seen, statements
from wblab.claims.pages.markdowntables import TOGETHER, middle, signed, table
from wblab.kernels import processors_of
from wblab.kernels.stock.stockkernel import is_stock
from wblab.report.quantities import quantity, spread

_REAL = "/real"
Kind = Literal["lab", "stock", "real"]
Row = tuple[OfStudy, dict[str, Seen | None]]  # what each substrate says of a statement
Kept = Mapping[str, Mapping[str, Any]]  # what each study said, by its name
_SIGNS = {"in every run": "●", "in no run": "○", "in some runs": "?"}
_REAL_HEAD = """\
## User Mode Linux with several processors

This is the lab's kernel with the lab's disks, built for several processors (`7.2+smp`). It has no virtual time: the
host's clock counts, and a busy host disturbs a run. So the same is shown for one processor by the host's clock. A run
is *spoiled* if its control load is stalled for over 0.3 s. It is repeated, at most twice, and does not count.
"""
_STUDIES_HEAD = """\
Each row comes from one of these commands. The control load only sleeps: its longest stall is what
a machine itself does to a load.
"""


def short(listed: Statements | None = None, kept: Kept | None = None) -> str:
    """Return what each place says of each statement, with the middle of the longest pauses."""
    more = "The pages of `make docs` have the ranges here, and the command of each row."
    return "\n".join([more, "", *_page(*_given(listed, kept), ranges=False)])


def whole(listed: Statements | None = None, kept: Kept | None = None) -> str:
    """Return the same with the range of the pauses, and how each study is repeated."""
    statements_, answers = _given(listed, kept)
    return "\n".join([*_page(statements_, answers, ranges=True), *_studies(statements_, answers)])


def _given(listed: Statements | None, kept: Kept | None) -> tuple[Statements, Kept]:
    """Return statements and answers; by default those that came with the lab."""
    table_ = listed or statements()
    return table_, kept or {name: answer for name in table_.study if (answer := said(name)) is not None}


def _page(listed: Statements, kept: Kept, *, ranges: bool) -> Iterator[str]:
    rows = [(each, dict(seen(each, kept))) for each in listed.statement if each.study in kept]
    releases = {release for answer in kept.values() for name, release in answer["substrates"].items() if is_stock(name)}
    seeds = {len(each) for answer in kept.values() for each in answer["control_stall_s"].values()}
    yield f"Debian's kernels: {', '.join(sorted(filter(None, releases), reverse=True))}. A figure is the median of"
    yield f"{' or '.join(map(str, sorted(seeds)))} seeds{', with the least to the most' if ranges else ''}."
    yield ""
    real = [row for row in rows if "real" in map(_kind, row[1])]
    yield from _table([row for row in rows if row not in real], "stock", ranges=ranges)
    if real:
        yield _REAL_HEAD
        yield from _table(real, "real", ranges=ranges)


def _table(rows: Sequence[Row], kind: Kind, *, ranges: bool) -> Iterator[str]:
    """Yield the lines of a table: what holds in the lab, and on substrates of a kind by their processors."""
    processors = sorted({_processors(name) for _, cells in rows for name in cells if _kind(name) == kind})
    heads = ["", "in the lab", *(f"{count} processor{'s' * (count > 1)}" for count in processors)]
    shown = []
    for statement, cells in rows:
        texts: dict[str | int, str] = {_column(name): _cell(one, ranges=ranges) for name, one in cells.items()}
        columns: list[str | int] = ["lab", *processors]
        linked = f"[{statement.text}]({statement.page})"
        shown.append([linked, *(texts.get(column, "") for column in columns)])
    yield from table(heads, shown)


def _cell(one: Seen | None, *, ranges: bool) -> str:
    """Return whether a statement holds on a substrate, and the longest pause of its loads there."""
    if one is None:
        return "–"
    pause = spread(one.longest_s, "s")
    pause = pause.replace(" ", TOGETHER).replace(f"{TOGETHER}(", " (")  # a cell breaks before its range only
    return signed(_SIGNS[one.holds], pause if ranges else middle(pause))


def _studies(listed: Statements, kept: Kept) -> Iterator[str]:
    """Yield how each study is repeated, and how noisy its machines were."""
    rows = []
    for name, answer in kept.items():
        stalls = answer["control_stall_s"].items()
        noise = ", ".join(f"{on} {quantity(max(each), 's')}" for on, each in stalls if each)
        spoiled = "".join(map(_spoiled, answer.get("spoiled", ())))
        rows.append([f"`{shlex.join(listed.study[name].command)}`", f"{noise}{spoiled}"])
    yield _STUDIES_HEAD
    yield from table(["command", "longest stall of the control load"], rows)


def _spoiled(each: Mapping[str, Any]) -> str:
    """Return what is said of the spoiled runs of a seed."""
    stalls = ", ".join(quantity(stall_s, "s") for stall_s in each["control_stall_s"])
    end = "repeated" if each["repeated"] else "not counted"
    return f"; spoiled: {each['substrate']} seed {each['seed']} ({stalls}), {end}"


def _column(name: str) -> str | int:
    return "lab" if _kind(name) == "lab" else _processors(name)


def _kind(name: str) -> Kind:
    """Return what a substrate is, by its name: a kernel with several processors has the host's clock."""
    if is_stock(name):
        return "stock"
    return "real" if name.endswith(_REAL) or _processors(name) > 1 else "lab"


def _processors(name: str) -> int:
    kernel = name.removesuffix(_REAL)
    return processors_of(kernel)
