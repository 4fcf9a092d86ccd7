"""What was confirmed outside of User Mode Linux: statements of the docs, and what kept studies say of each.

experiments/measured/outside/studies.toml lists the statements and their studies; `make outside` makes the studies, and
keeps what each says beside that list.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from wblab.core.tables import from_table
from wblab.lab.places import OUTSIDE
from wblab.lab.specfile import read_toml
from wblab.study.designs.witness.result import Figure, Word

STUDIES = "studies.toml"
HALF = 0.5
Holds = Literal["in every run", "in some runs", "in no run"]


@dataclass(frozen=True, kw_only=True)
class Study:
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
class Statement:
    """A statement of the docs: loads that are stalled, or are not, or for less than half as long as in another study.

    page: where it stands. on: where it is tested. than: the other study.
    """

    study: str
    text: str
    page: str
    loads: tuple[str, ...]
    are: Literal["stalled", "not stalled", "stalled for less"]
    on: tuple[str, ...] = ()
    than: str = ""


@dataclass(frozen=True, kw_only=True)
class Statements:
    """The list: studies by name, and statements in the order of the page."""

    study: dict[str, Study]
    statement: tuple[Statement, ...]

    def of_page(self, page: str) -> list[Statement]:
        """Return the statements of one page, by its file's name."""
        return [one for one in self.statement if one.page.rpartition("/")[2] == page]


@dataclass(frozen=True)
class Seen:
    """What one substrate says of a statement: in which runs it holds, and the longest pause of its loads."""

    substrate: str
    release: str
    holds: Holds
    longest: Figure


def statements(folder: Path = OUTSIDE) -> Statements:
    """Return the list. Raises InputError if it is not valid."""
    return from_table(Statements, read_toml(folder / STUDIES, "list of studies"))


def said(name: str, folder: Path = OUTSIDE) -> dict[str, Any] | None:
    """Return what a study said, as `wblab study --json` printed it; None if it was not made."""
    path = folder / f"{name}.json"
    return json.loads(path.read_text()) if path.is_file() else None


def seen(
    statement: Statement, answers: Mapping[str, Mapping[str, Any]], on: Sequence[str] = ()
) -> Iterator[tuple[str, Seen | None]]:
    """Yield what each of the statement's substrates says, with its name; None where no run succeeded.

    answers: what studies said, by name. on: other substrates than the statement's.
    """
    answer, other = answers[statement.study], answers.get(statement.than)
    for name in on or statement.on or answer["substrates"]:
        yield name, _seen(statement, answer, other, name)


def _seen(statement: Statement, answer: Mapping[str, Any], other: Mapping[str, Any] | None, name: str) -> Seen | None:
    values = _pauses_s(statement, answer, name)
    if not all(values):
        return None
    longest = _worst(values)
    if statement.than:
        others = _pauses_s(statement, other, name) if other else [[]]
        if not all(others):
            return None
        shorter = [value <= HALF * than for value, than in zip(longest.values_s, _worst(others).values_s, strict=False)]
        holds: Holds = "in every run" if all(shorter) else "in some runs" if any(shorter) else "in no run"
    else:
        holds = _holds({Figure(tuple(each)).word for each in values}, statement.are)
    return Seen(name, answer["substrates"][name], holds, longest)


def _pauses_s(statement: Statement, answer: Mapping[str, Any], name: str) -> list[list[float]]:
    return [answer["loads"][load]["longest_pause_s"].get(name) or [] for load in statement.loads]


def _worst(values: Sequence[Sequence[float]]) -> Figure:
    return Figure(tuple(max(each) for each in zip(*values, strict=True)))


def _holds(words: set[Word], wanted: str) -> Holds:
    if words == {wanted}:
        return "in every run"
    return "in no run" if words.isdisjoint({wanted, "in some runs"}) else "in some runs"


def of_page(page: str, folder: Path = OUTSIDE) -> list[tuple[Statement, list[Seen]]]:
    """Return the statements of one page, by its file's name, and what each substrate with a run says of them."""
    return _answered(statements(folder).of_page(page), folder)


def about(key: str, folder: Path = OUTSIDE) -> list[tuple[Statement, list[Seen]]]:
    """Return the statements whose study sets a key, such as nr_requests, and what substrates say of them."""
    listed = statements(folder)
    studies = {name for name, study in listed.study.items() if any(_sets(each, key) for each in study.set)}
    return _answered([one for one in listed.statement if one.study in studies], folder)


def _sets(setting: str, key: str) -> bool:
    return setting.partition("=")[0].rpartition(".")[2] == key


def _answered(wanted: Sequence[Statement], folder: Path) -> list[tuple[Statement, list[Seen]]]:
    names = {name for one in wanted for name in (one.study, one.than) if name}
    answers = {name: answer for name in names if (answer := said(name, folder)) is not None}
    return [(one, [each for _, each in seen(one, answers) if each]) for one in wanted if one.study in answers]
