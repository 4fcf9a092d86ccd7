"""The page of what holds outside of User Mode Linux: `make outside`.

    python docs/outside.py [--run [STUDY ...]]

--run makes the runs of experiments/outside/studies.toml first, all or those of some studies. What `wblab witness` says
of each study is kept beside that list; it is what the page is made of without --run.
"""

import json
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from wblab.kernels.stock.kernel import is_stock, parse
from wblab.lab.kernelname import processors_in
from wblab.lab.places import OUTSIDE
from wblab.report.quantities import quantity, spread
from wblab.study.designs.witness.kept import Seen, Statement, Statements, said, seen, statements

PAGE = Path(__file__).resolve().parent / "explanation" / "outside.md"
_TOGETHER = "\N{NO-BREAK SPACE}"
_REAL = "/real"
Kind = Literal["lab", "stock", "real"]
Row = tuple[Statement, dict[str, Seen | None]]  # what each substrate says of a statement
_SIGNS = {"in every run": "●", "in no run": "○", "in some runs": "?"}
_HEAD = """\
# What holds outside of User Mode Linux

What the lab says was seen in User Mode Linux: one processor, a patched kernel. Here the same loads ran on Debian's own
kernels, unpatched, in the emulator QEMU, with one processor and with several: {kernels}.
[How to repeat it, and what differs there](../how-to/witness.md). `make outside` makes this page.

● holds in every run, ○ in none, ? in some. A figure is the longest pause of the loads that the statement is about: the
median of {seeds} seeds, and the least to the most. A load is *stalled* if its longest pause is over 0.3 s. Milliseconds
are not expected to agree: tick, preemption, processors and the disk's model differ.
"""
_REAL_HEAD = """\

## User Mode Linux with several processors

This is the lab's kernel with the lab's disks, built for several processors (`7.2+smp`). It has no virtual time: the
host's clock counts, and a busy host disturbs a run. So the same is shown for one processor by the host's clock. A run
is *spoiled* if its control load is stalled for over 0.3 s. It is repeated, at most twice, and does not count.
"""


def page(listed: Statements, kept: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the page. kept: what each study said, by its name."""
    rows = [(each, dict(seen(each, kept))) for each in listed.statement if each.study in kept]
    releases = {release for answer in kept.values() for name, release in answer["substrates"].items() if is_stock(name)}
    seeds = {len(each) for answer in kept.values() for each in answer["control_stall_s"].values()}
    kernels = ", ".join(sorted(filter(None, releases), reverse=True))
    lines = [_HEAD.format(kernels=kernels, seeds=" or ".join(map(str, sorted(seeds))))]
    real = [row for row in rows if "real" in map(_kind, row[1])]
    lines += _table([row for row in rows if row not in real], "stock")
    if real:
        lines += [_REAL_HEAD, *_table(real, "real")]
    lines += ["", *_studies(listed, kept), ""]
    return "\n".join(lines)


def _table(rows: Sequence[Row], kind: Kind) -> Iterator[str]:
    """Yield the lines of a table: what holds in the lab, and on substrates of a kind by their processors."""
    processors = sorted({_processors(name) for _, cells in rows for name in cells if _kind(name) == kind})
    heads = ["", "in the lab", *(f"{count} processor{'s' * (count > 1)}" for count in processors)]
    yield f"| {' | '.join(heads)} |"
    yield "|---" * len(heads) + "|"
    for statement, cells in rows:
        texts = {_column(name): _cell(one) for name, one in cells.items()}
        row = [texts.get(column, "") for column in ("lab", *processors)]
        yield f"| [{statement.text}]({statement.page}) | {' | '.join(row)} |"


def _cell(one: Seen | None) -> str:
    """Return whether a statement holds on a substrate, and the longest pause of its loads there."""
    if one is None:
        return "–"
    text = f"{_SIGNS[one.holds]} {spread(one.longest.values_s, 's')}"
    return text.replace(" ", _TOGETHER).replace(f"{_TOGETHER}(", " (")  # a cell breaks before its range only


def _studies(listed: Statements, kept: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield how each study is repeated, and how noisy its machines were."""
    yield "Each row comes from one of these commands. The control load only sleeps: its longest stall is what"
    yield "a machine itself does to a load.\n"
    yield "| command | longest stall of the control load |"
    yield "|---|---|"
    for name, answer in kept.items():
        stalls = answer["control_stall_s"].items()
        noise = ", ".join(f"{on} {quantity(max(each), 's')}" for on, each in stalls if each)
        spoiled = "".join(map(_spoiled, answer.get("spoiled", ())))
        yield f"| `{shlex.join(listed.study[name].command)}` | {noise}{spoiled} |"


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
    return (parse if is_stock(kernel) else processors_in)(kernel)[1]


def read_kept(listed: Statements) -> dict[str, dict[str, Any]]:
    """Return what studies said, by their names, in the order of the list."""
    return {name: answer for name in listed.study if (answer := said(name)) is not None}


def _run(listed: Statements, names: Sequence[str]) -> None:
    for name in names or listed.study:
        called = [sys.executable, "-m", *listed.study[name].command, "--json"]
        answer = json.loads(subprocess.run(called, stdout=subprocess.PIPE, check=True).stdout)
        del answer["directory"]
        (OUTSIDE / f"{name}.json").write_text(json.dumps(answer, indent=1) + "\n")


if __name__ == "__main__":
    table = statements()
    if sys.argv[1:2] == ["--run"]:
        _run(table, sys.argv[2:])
    PAGE.write_text(page(table, read_kept(table)))
