"""Measured figures in the docs: the runs that they come from, and a check that the pages show them.

`make figures`, or `python docs/figures.py [NAME ...]`, measures them again and writes them into the pages.
docs/figures.toml lists them.
"""

import argparse
import re
import statistics
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

from wblab.kernels import built_kernels
from wblab.lab.places import RESULTS
from wblab.lab.results import MATRICES
from wblab.study.begin import described
from wblab.study.cells import run_name
from wblab.study.designs.matrix.factorial import read_matrix
from wblab.study.plan import Plan
from wblab.study.rowfile import run_rows
from wblab.study.run import run_store
from wblab.study.store import Store

DOCS = Path(__file__).resolve().parent
LIST = DOCS / "figures.toml"
_HOLE = "{}"
Levels = tuple[tuple[str, Any], ...]
# By matrix and the levels of a cell: for each seed, in order, the values by load and metric.
Found = Mapping[tuple[str, Levels], Sequence[Mapping[tuple[str, str], float]]]


def _seconds(value: float) -> str:
    digits = 0 if value >= 99.95 else 1 if value >= 0.995 else 2
    return f"{value:.{digits}f}"


def _time(value: float) -> str:
    return f"{_seconds(value)} s" if value >= 0.0995 else f"{value * 1000:.2g} ms"


def _megabytes(value: float) -> str:
    value /= 1e6
    return f"{value:.1f}" if value >= 9.95 else f"{value:.2f}"


_WORDS: dict[str, Callable[[float], str]] = {"throughput_bps": _megabytes}


@dataclass(frozen=True)
class Value:
    """One number, or median and range, over all seeds: the largest value of `metric` among `loads` in each run.

    is_sum: the sum of all loads' values instead.
    """

    matrix: str
    levels: Levels
    metric: str
    loads: tuple[str, ...]
    shown: str = "spread"
    unit: str = ""
    is_sum: bool = False

    def words(self, found: Found) -> str:
        """Return the text for the page."""
        runs = found[self.matrix, self.levels]
        values = [(sum if self.is_sum else max)(run[load, self.metric] for load in self.loads) for run in runs]
        word = _time if self.shown == "time" else _WORDS.get(self.metric, _seconds)
        middle = word(statistics.median(values)) + self.unit
        if self.shown != "spread":
            return middle
        return f"{middle} ({word(min(values))} to {word(max(values))})"


@dataclass(frozen=True)
class Figure:
    """A row of a table or a sentence on a page, below a heading: text with a hole for each value."""

    name: str
    page: Path
    below: str
    text: str
    values: tuple[Value, ...]

    def words(self, found: Found) -> list[str]:
        """Return the texts of its values."""
        return [value.words(found) for value in self.values]

    def stands(self) -> re.Match[str]:
        """Return the match on the page, with a group for each value. Raises LookupError if there is none."""
        page = self.page.read_text()
        start = page.index(f"{self.below}\n") if self.below else 0
        value = r"([^|\n]*)" if self.text.startswith("|") else r"(\d[\d.]*(?: m?s\b)?(?:\s\(\S+\s+to\s+\S+\))?)"
        pattern = value.join(re.escape(part).replace(r"\ ", r"\s+") for part in self.text.split(_HOLE))
        match = re.compile(pattern).search(page, start)
        if match is None:
            raise LookupError(f"{self.page.name} has no {self.text!r} below {self.below!r}: see {LIST.name}")
        return match

    def shown(self) -> list[str]:
        """Return the values that the page shows."""
        return [" ".join(group.split()) for group in self.stands().groups()]


def figures(path: Path = LIST) -> list[Figure]:
    """Return all figures of the list."""
    listed = tomllib.loads(path.read_text())
    return [*_rows(listed["tables"]), *_sentences(listed["sentences"])]


def _rows(tables: Mapping[str, Any]) -> Iterator[Figure]:
    for name, table in tables.items():
        for label, levels, *own in table["rows"]:
            columns = [{"matrix": table.get("matrix")} | column | dict(*own) for column in table["columns"]]
            values = tuple(_value(column, levels) for column in columns)
            text = f"| {' | '.join([label, *[_HOLE] * len(values)])} |"
            yield Figure(f"{name}: {label}", DOCS / table["page"], table["below"], text, values)


def _sentences(sentences: Mapping[str, Any]) -> Iterator[Figure]:
    for name, given in sentences.items():
        for page in given["pages"]:
            values = tuple(_value(value, value.get("levels", {})) for value in given["values"])
            yield Figure(f"{name}: {Path(page).name}", DOCS / page, given.get("below", ""), given["text"], values)


def _value(given: Mapping[str, Any], levels: Mapping[str, Any]) -> Value:
    wanted = dict(given)
    wanted["levels"] = tuple(sorted((levels | wanted.pop("at", {})).items()))
    return Value(**(wanted | {"loads": tuple(wanted["loads"])}))


@cache
def _read(name: str) -> Plan:
    return read_matrix(MATRICES.find(name))


def _matrix(name: str, wanted: Iterable[Levels]) -> Plan:
    """Return the wanted cells of a matrix of the lab."""
    matrix = _read(name)
    named = {tuple(sorted(cell.levels.items())): cell for cell in matrix.cells}
    if unknown := set(wanted) - named.keys():
        raise LookupError(f"{name} has no cell {dict(min(unknown))}")
    return replace(matrix, cells=tuple(named[one] for one in wanted))


def run(wanted: Sequence[Figure], results: Path) -> Found:
    """Make each needed run once and return the metrics. Raises WblabError."""
    needed = sorted({(value.matrix, value.levels) for figure in wanted for value in figure.values}, key=repr)
    resolve = built_kernels()
    found: dict[tuple[str, Levels], list[Mapping[tuple[str, str], float]]] = {}
    for name, pairs in groupby(needed, key=lambda pair: pair[0]):
        matrix = _matrix(name, [levels for _, levels in pairs])
        store = Store.create(results, matrix, described(matrix, resolve))
        with store.held():
            tally = run_store(store)
        if tally.failures:
            raise SystemExit(f"{tally.failures[0][0]}: {tally.failures[0][1]}: see {store.path}")
        for cell, seed in matrix.runs():
            rows = run_rows(store.runs / run_name(cell, seed), ())
            one = {(load, metric): value for load, _, metric, value in rows}
            found.setdefault((name, tuple(sorted(cell.levels.items()))), []).append(one)
    return found


def kernels(figure: Figure) -> set[str]:
    """Return the names of the kernels that a figure's runs need, beside the default one."""
    cells = [cell for value in figure.values for cell, _ in _matrix(value.matrix, [value.levels]).runs()]
    return {cell.spec.kernel.build for cell in cells} - {""}


def write(figure: Figure, found: Found) -> bool:
    """Write a figure into its page; return whether it changed."""
    new, page, match = figure.words(found), figure.page.read_text(), figure.stands()
    if figure.shown() == new:
        return False
    for place, word in reversed([*enumerate(new, 1)]):
        page = page[: match.start(place)] + word + page[match.end(place) :]
    figure.page.write_text(page)
    return True


def main() -> None:
    """Measure figures again and write them into their pages."""
    parser = argparse.ArgumentParser(description="Measure figures of the docs again and write them into their pages.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="figures whose names begin like this (default: all)")
    parser.add_argument("--list", action="store_true", help="print all names")
    parser.add_argument("--exp", type=Path, default=RESULTS, metavar="DIR", help="where the runs go")
    arguments = parser.parse_args()
    wanted = [one for one in figures() if not arguments.names or one.name.startswith(tuple(arguments.names))]
    for one in wanted:
        one.stands()  # fail before hours of runs
    if arguments.list:
        print("\n".join(one.name for one in wanted))
        return
    found = run(wanted, arguments.exp)
    changed = [one for one in wanted if write(one, found)]
    print("\n".join(f"changed: {one.name}: {'; '.join(one.shown())}" for one in changed))
    print(f"{len(changed)} of {len(wanted)} figures changed", file=sys.stderr)


if __name__ == "__main__":
    main()
