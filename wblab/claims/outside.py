"""What was confirmed outside of User Mode Linux: statements of the docs, and what kept studies say of each.

experiments/measured/outside/studies.toml lists the statements and their studies; `make outside` makes the studies, and
keeps what each says beside that list.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wblab.core.tables import from_table
from wblab.kernels.stock.stockkernel import is_stock, parse
from wblab.lab.places import OUTSIDE
from wblab.lab.specfile import read_toml
from wblab.study.statement import InRuns, Statement, Verdict

STUDIES = "studies.toml"


@dataclass(frozen=True, kw_only=True)
class OutsideStudy:
    """A spec with changes, as in `wblab study`, and where it runs. seeds: 0 for as many as witness makes."""

    spec: str
    on: tuple[str, ...]
    set: tuple[str, ...] = ()
    seeds: int = 0

    @property
    def command(self) -> list[str]:
        """The command that makes it."""
        settings = [word for setting in self.set for word in ("--set", setting)]
        seeds = ["--seeds", str(self.seeds)] if self.seeds else []
        return ["wblab", "study", self.spec, *settings, *(word for on in self.on for word in ("--on", on)), *seeds]


@dataclass(frozen=True, kw_only=True)
class OfStudy(Statement):
    """A statement of the docs about loads of a study.

    page: where it stands. on: where it is tested. `shorter` names another study.
    """

    study: str
    page: str
    loads: tuple[str, ...]
    on: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Statements:
    """The list: studies by name, and statements in the order of the page."""

    study: dict[str, OutsideStudy]
    statement: tuple[OfStudy, ...]

    def of_page(self, page: str) -> list[OfStudy]:
        """Return the statements of one page, by its file's name."""
        return [one for one in self.statement if one.page.rpartition("/")[2] == page]


@dataclass(frozen=True)
class Seen:
    """What one substrate says of a statement, and the longest pause of its loads in each run, in s."""

    substrate: str
    release: str
    verdict: Verdict
    longest_s: tuple[float, ...]

    @property
    def holds(self) -> InRuns:
        """In which runs it holds."""
        return self.verdict.in_runs


def statements(folder: Path = OUTSIDE) -> Statements:
    """Return the list. Raises InputError if it is not valid."""
    return from_table(Statements, read_toml(folder / STUDIES, "list of studies"))


def said(name: str, folder: Path = OUTSIDE) -> dict[str, Any] | None:
    """Return what a study said, as `wblab study --json` printed it; None if it was not made."""
    path = folder / f"{name}.json"
    return json.loads(path.read_text()) if path.is_file() else None


def seen(
    statement: OfStudy, answers: Mapping[str, Mapping[str, Any]], on: Sequence[str] = ()
) -> Iterator[tuple[str, Seen | None]]:
    """Yield what each of the statement's substrates says, with its name; None where no run succeeded.

    answers: what studies said, by name. on: other substrates than the statement's.
    """
    answer, other = answers[statement.study], answers.get(statement.shorter)
    for name in on or statement.on or answer["substrates"]:
        yield name, _seen(statement, answer, other, name)


def _seen(statement: OfStudy, answer: Mapping[str, Any], other: Mapping[str, Any] | None, name: str) -> Seen | None:
    values = _pauses_s(statement, answer, name)
    others = _pauses_s(statement, other, name) if other else [()]
    if not all(values) or (statement.shorter and not all(others)):
        return None
    every = min if statement.are == "stalled" else max  # all its loads are what it says, or it does not hold
    verdict = statement.judge(_of_seeds(every, values), _of_seeds(max, others))
    return Seen(name, answer["substrates"][name], verdict, _of_seeds(max, values))


def _pauses_s(statement: OfStudy, answer: Mapping[str, Any], name: str) -> list[list[float]]:
    return [answer["loads"][load]["longest_pause_s"].get(name) or [] for load in statement.loads]


def _of_seeds(chosen: Callable[[Sequence[float]], float], loads: Sequence[Sequence[float]]) -> tuple[float, ...]:
    return tuple(map(chosen, zip(*loads, strict=True)))


def of_page(page: str, folder: Path = OUTSIDE) -> list[tuple[OfStudy, list[Seen]]]:
    """Return the statements of one page, by its file's name, and what each substrate with a run says of them."""
    return _answered(statements(folder).of_page(page), folder)


def about(key: str, folder: Path = OUTSIDE) -> list[tuple[OfStudy, list[Seen]]]:
    """Return the statements whose study sets a key, such as nr_requests, and what substrates say of them."""
    listed = statements(folder)
    studies = {name for name, study in listed.study.items() if any(_sets(each, key) for each in study.set)}
    return _answered([one for one in listed.statement if one.study in studies], folder)


def _sets(setting: str, key: str) -> bool:
    return setting.partition("=")[0].rpartition(".")[2] == key


def _answered(wanted: Sequence[OfStudy], folder: Path) -> list[tuple[OfStudy, list[Seen]]]:
    names = {name for one in wanted for name in (one.study, one.shorter) if name}
    answers = {name: answer for name in names if (answer := said(name, folder)) is not None}
    return [(one, [each for _, each in seen(one, answers) if each]) for one in wanted if one.study in answers]


# The same in words, for those who are about to set something.


def tried_outside(keys: Iterable[str], folder: Path = OUTSIDE) -> list[str]:
    """Return what stock kernels did with settings of these kinds, such as nr_requests or vm.dirty_bytes.

    folder: with what was tried.
    """
    kinds = dict.fromkeys(key.rpartition(".")[2] for key in keys)
    tried = (pair for kind in kinds for pair in about(kind, folder))
    found = {statement.text: one for statement, seen in tried if (one := _stock(seen)) is not None}
    return [f"{text}: {one}." for text, one in found.items()]


def _stock(seen: Sequence[Seen]) -> str | None:
    """Return in which runs on stock kernels a statement holds, and with how many processors."""
    stock = [one for one in seen if is_stock(one.substrate)]
    if not stock:
        return None
    processors = " and ".join(str(parse(one.substrate).processors) for one in stock)
    where = f"on Linux {stock[0].release} in QEMU with {processors} processor{'s' * (processors != '1')}"
    held = {one.holds for one in stock}
    if len(held) == 1:
        return f"{held.pop()} {where}"
    return ", ".join(f"{one.holds} with {parse(one.substrate).processors}" for one in stock) + f" ({where})"
