"""The designs of studies: the ways to make many runs. Each is a folder that has its name, in the lab or in a wing.

The name stands in study.json. What is known of a design without loading it is in design.toml of its folder; `make.py`
there makes its studies.
"""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from wblab.lab.places import DESIGNS, PRESETS, ROOT

_FILE = "design.toml"
STUDY_AGAIN = "wblab study --resume"


@dataclass(frozen=True, kw_only=True)
class Design:
    """What is known of a design without loading it.

    rank: its place among the others, in lists and where a file's keys are looked for. noun: what a study of it is
    called. package: of its modules. takes: what it studies that no file or name says: places, claims, live runs.

    own, files: the names of those that come with the lab, or a pattern of their files among the presets. called: what
    such a one is. keys: a TOML file with one of these is of this design.

    plan, call: the options of `wblab study` for it, beside --resume, --exp, --json and --jobs: those that decide its
    plan, which --resume keeps, and those of each call. parts: its runs may be shared out between machines (--shard) and
    put together. grows: it makes further runs as they are needed. beside: the files that it has beside study.json.

    again: the command that resumes one, without its directory; empty where none does. report: the command that says
    what one shows. alone: what a directory without study.json is called, by a file that it has.
    """

    rank: int
    noun: str
    package: str
    takes: tuple[str, ...] = ()
    own: tuple[str, ...] = ()
    files: str = ""
    called: str = ""
    keys: tuple[str, ...] = ()
    plan: tuple[str, ...] = ()
    call: tuple[str, ...] = ()
    parts: bool = False
    grows: bool = False
    beside: tuple[str, ...] = ()
    again: str = STUDY_AGAIN
    report: str = "wblab study"
    alone: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_of_study(self) -> bool:
        """Whether `wblab study` makes it from what it is given."""
        return bool(self.plan)

    def names(self) -> list[str]:
        """Return the names of those that come with the lab: of a file, or of its folder if all files have one name."""
        found = PRESETS.glob(self.files) if self.files else ()
        return [*self.own, *sorted(path.parent.name if self.files.endswith(path.name) else path.stem for path in found)]


@cache
def designs() -> Mapping[str, Design]:
    """Return all designs by name, in the order of their ranks. Takes some ms, once."""
    found = {path.parent.name: _read(path) for room in DESIGNS for path in room.glob(f"*/{_FILE}")}
    return dict(sorted(found.items(), key=lambda item: item[1].rank))


def _read(path: Path) -> Design:
    table: dict[str, Any] = tomllib.loads(path.read_text())
    package = ".".join(path.parent.relative_to(ROOT).parts)
    return Design(
        **table | {key: tuple(value) for key, value in table.items() if isinstance(value, list)}, package=package
    )


def names() -> Iterator[tuple[str, str, str]]:
    """Yield the design, the name and what it is of all that comes with the lab, without single claims."""
    for name, design in designs().items():
        yield from ((name, each, design.called) for each in design.names())


def noun(design: str) -> str:
    """Return what a study of a design is called: `study` for one that this lab does not know."""
    return designs()[design].noun if design in designs() else "study"
