"""The page of what holds outside of User Mode Linux: `make outside`.

    python docs/outside.py [--run [STUDY ...]]

--run makes the runs of docs/outside.toml first, all or those of some studies. What `wblab witness` says of each study
is kept beside the page; it is what the page is made of without --run.
"""

import json
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from wblab.kernels.stock.kernel import is_stock, parse
from wblab.report.quantities import interval, quantity
from wblab.study.designs.witness.result import Figure

DOCS = Path(__file__).resolve().parent
LIST, PAGE = DOCS / "outside.toml", DOCS / "explanation" / "outside.md"
KEPT = PAGE.with_suffix("")
_TOGETHER = "\N{NO-BREAK SPACE}"
_SIGNS = {"yes": "●", "no": "○", "some": "?"}
_HEAD = """\
# What holds outside of User Mode Linux

What the lab says was seen in User Mode Linux: one processor, a patched kernel. Here the same loads ran on Debian's own
kernels, unpatched, in the emulator QEMU, with one processor and with several: {kernels}.
[How to repeat it, and what differs there](../how-to/witness.md). `make outside` makes this page.

● holds in every run, ○ in none, ? in some. A figure is the longest pause of the loads that the statement is about: the
median of {seeds} seeds, and the least to the most. A load is *stalled* if its longest pause is over 0.3 s. Milliseconds
are not expected to agree: tick, preemption, processors and the disk's model differ.
"""


def page(listed: Mapping[str, Any], kept: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the page. kept: what each study said, by its name."""
    statements = [each for each in listed["statement"] if each["study"] in kept]
    on = {name for each in statements for name in _on(each, kept[each["study"]])}
    processors = sorted({_processors(name) for name in on if is_stock(name)})
    releases = {release for said in kept.values() for name, release in said["substrates"].items() if is_stock(name)}
    seeds = {len(each) for said in kept.values() for each in said["control_stall_s"].values()}
    kernels = ", ".join(sorted(filter(None, releases), reverse=True))
    lines = [_HEAD.format(kernels=kernels, seeds=" or ".join(map(str, sorted(seeds))))]
    heads = ["", "in the lab", *(f"{count} processor{'s' * (count > 1)}" for count in processors)]
    lines += [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    lines += [_row(each, kept[each["study"]], processors) for each in statements]
    lines += ["", *_studies(listed, kept), ""]
    return "\n".join(lines)


def _row(statement: Mapping[str, Any], said: Mapping[str, Any], processors: Sequence[int]) -> str:
    cells = {_column(name): _cell(statement, said, name) for name in _on(statement, said)}
    texts = [cells.get(column, "") for column in ("lab", *processors)]
    return f"| [{statement['text']}]({statement['page']}) | {' | '.join(texts)} |"


def _cell(statement: Mapping[str, Any], said: Mapping[str, Any], name: str) -> str:
    """Return whether a statement holds on a substrate, and the longest pause of its loads there."""
    figures = [said["loads"][load]["longest_pause_s"][name] for load in statement["loads"]]
    if not all(figures):
        return "–"
    words = {Figure(tuple(values)).word for values in figures}
    is_mixed = not words.isdisjoint({statement["are"], "in some runs"})
    holds = "yes" if words == {statement["are"]} else "some" if is_mixed else "no"
    longest = Figure(tuple(max(values) for values in zip(*figures, strict=True)))
    text = f"{_SIGNS[holds]} {interval(longest.median_s, min(longest.values_s), max(longest.values_s), 's')}"
    return text.replace(" ", _TOGETHER).replace(f"{_TOGETHER}(", " (")  # a cell breaks before its range only


def _studies(listed: Mapping[str, Any], kept: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield how each study is repeated, and how noisy its machines were."""
    yield "Each row comes from one of these commands. The control load only sleeps: its longest stall is what"
    yield "a machine itself does to a load.\n"
    yield "| command | longest stall of the control load |"
    yield "|---|---|"
    for name, said in kept.items():
        noise = ", ".join(f"{on} {quantity(max(each), 's')}" for on, each in said["control_stall_s"].items() if each)
        yield f"| `{shlex.join(command(listed['study'][name]))}` | {noise} |"


def command(study: Mapping[str, Any]) -> list[str]:
    """Return the command of a study."""
    settings = [word for setting in study.get("set", ()) for word in ("--set", setting)]
    return ["wblab", "witness", study["spec"], *settings, *(word for name in study["on"] for word in ("--on", name))]


def _on(statement: Mapping[str, Any], said: Mapping[str, Any]) -> list[str]:
    return list(statement.get("on", said["substrates"]))


def _column(name: str) -> str | int:
    return _processors(name) if is_stock(name) else "lab"


def _processors(name: str) -> int:
    return parse(name)[1]


def read_kept(listed: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return what studies said, by their names, in the order of the list."""
    paths = {name: KEPT / f"{name}.json" for name in listed["study"]}
    return {name: json.loads(path.read_text()) for name, path in paths.items() if path.is_file()}


def _run(listed: Mapping[str, Any], names: Sequence[str]) -> None:
    KEPT.mkdir(exist_ok=True)
    for name in names or listed["study"]:
        called = [sys.executable, "-m", *command(listed["study"][name]), "--json"]
        said = json.loads(subprocess.run(called, stdout=subprocess.PIPE, check=True).stdout)
        del said["directory"]
        (KEPT / f"{name}.json").write_text(json.dumps(said, indent=1) + "\n")


if __name__ == "__main__":
    table = tomllib.loads(LIST.read_text())
    if sys.argv[1:2] == ["--run"]:
        _run(table, sys.argv[2:])
    PAGE.write_text(page(table, read_kept(table)))
