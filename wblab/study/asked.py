"""What a study is asked for, and what it answers at its end: the same for `wblab study` and for Python."""

import shlex
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, get_args

from wblab.core.errors import InputError, WblabError, nearest
from wblab.lab.designs import STUDY_AGAIN
from wblab.report.report import Medium, Report
from wblab.study.plan import Keep, Shard, shard_of
from wblab.study.run import Tally
from wblab.study.store import Store

_SHOWN = 20  # the most failures that are told one by one
# Options as they are written, where that is not the name of their value.
_SPELLED = {"settings": "--set", "one": "--run", "other": "OTHER", "parts": "PART", "output": "-o"}
# What programs give as text.
_READ: Mapping[str, Callable[[Any], Any]] = {
    "jobs": int,
    "seeds": int,
    "output": Path,
    "shard": lambda given: given if isinstance(given, Shard) else shard_of(given),
}
_FIELDS = {"set": "settings"}
_NO_OPTIONS = ("results", "resume", "is_report", "note", "failed")
HERE = "here:"  # what is given for this machine, in place of a live run
KEEPS: tuple[Keep, ...] = get_args(Keep)


def _silent(line: str) -> None:
    """Say nothing."""


@dataclass(frozen=True, kw_only=True)
class StudyRequest:
    """What a study is asked for. A design's registration says which of these it takes (wblab.lab.designs.Design).

    results: where directories go. what: a name, a file or a directory. parts: only these of its claims,
    recommendations or matrices. settings: changes to a spec, as key=value. seeds: runs of each cell; None: as many as
    the design makes. kernel: the guests' kernel, and paths that they may use. on, filesystem: the places and
    filesystems to run on; none: all that the design knows. disk: the file of a disk's model. keep, shard: see `Plan`.
    jobs: runs at once; None: one for each processor. cluster: the address of a scheduler that makes them. resume: a
    study to go on with, or of which only the report is wanted (is_report). output: where the study's directory goes.
    update: keep a finding's figures. evidence: show every figure.

    note: called with what is done, or found by the way. failed: called with a line for each failed run, where the
    study goes on.
    """

    results: Path
    what: str = ""
    parts: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    seeds: int | None = None
    until_decided: bool = False
    kernel: tuple[str, ...] = ()
    on: tuple[str, ...] = ()
    filesystem: tuple[str, ...] = ()
    disk: str = ""
    keep: Keep | None = None
    shard: Shard | None = None
    jobs: int | None = None
    cluster: str = ""
    resume: Path | None = None
    is_report: bool = False
    output: Path | None = None
    update: bool = False
    evidence: bool = False
    note: Callable[[str], None] = _silent
    failed: Callable[[str], None] = _silent

    @property
    def one_kernel(self) -> str:
        """The kernel, where all runs have one; empty for none. Raises InputError for a second one."""
        if len(self.kernel) > 1:
            raise InputError(f"--kernel {self.kernel[1]}: all runs of this have one kernel: give it once")
        return self.kernel[0] if self.kernel else ""


def asked_for(options: Mapping[str, Any], **own: Any) -> StudyRequest:
    """Return what a program asks for. Numbers and shards may be texts, and a text stands for a list of one.

    own: what is no option of the command, such as where results go. Raises InputError for an option that there is not,
    and for one of the wrong type.
    """
    known = {field.name: field.default for field in fields(StudyRequest) if field.name not in _NO_OPTIONS}
    options = {_FIELDS.get(name, name): value for name, value in options.items() if value is not None}
    if unknown := [name for name in options if name not in known]:
        raise InputError(f"no option {unknown[0]!r} of a study{nearest(unknown[0], list(known))}")
    if options.get("keep", KEEPS[0]) not in KEEPS:
        raise InputError(f"keep: {options['keep']!r} is not one of {', '.join(KEEPS)}")
    try:
        read = {name: _READ[name](value) if name in _READ else value for name, value in options.items()}
        lists = {
            name: (value,) if isinstance(value, str) else tuple(value)
            for name, value in read.items()
            if known[name] == ()
        }
    except (TypeError, ValueError) as error:
        raise InputError(f"an option of the study is not understood: {error}") from None
    return StudyRequest(**(own | read | lists))


def check_options(asked: object, kind: str, options: Mapping[str, Collection[str]]) -> None:
    """Raise InputError for a given option that what was asked for does not have.

    kind: of what was asked for. options: those of each kind, by the names of their values, which `asked` has.
    """
    others = set().union(*options.values()) - set(options[kind])
    for option, shown in given(asked, sorted(others)).items():
        goes = ", ".join(sorted(each for each, known in options.items() if option in known))
        raise InputError(f"{shown} is for {goes}, and this is {kind}: leave it out")


def given(asked: object, options: Iterable[str]) -> dict[str, str]:
    """Return those of some options that were given, by the names of their values, as they are written."""
    there = [option for option in options if getattr(asked, option) not in (None, False, [], (), "")]
    return {option: _SPELLED.get(option, f"--{option.replace('_', '-')}") for option in there}


@dataclass(frozen=True)
class Failures:
    """The failed runs of a study.

    runs: the cell, the seed and the reason of each. ended: how many runs have succeeded or failed. kept: where their
    directories are. again: the command that tries them again.
    """

    runs: Sequence[Mapping[str, Any]] = ()
    ended: int = 0
    kept: Path = Path()
    again: str = ""

    @classmethod
    def of(
        cls,
        store: Store,
        tally: Tally,
        again: str = STUDY_AGAIN,
        but: Callable[[str], bool] = lambda reason: False,
    ) -> "Failures":
        """Return the failed runs of a tally. again: without the directory. but: true of reasons that are answers."""
        found = [
            {"cell": str(item.cell), "seed": item.seed, "reason": reason}
            for item, reason in tally.failures
            if not but(reason)
        ]
        ended = len(store.plan.runs()) - len(store.missing()) + len(found)
        return cls(found, ended, store.runs, f"{again} {shlex.quote(str(store.path))}")

    @property
    def lines(self) -> list[str]:
        """The reasons of the first ones, a line each."""
        found = ["failed: {cell}, seed {seed}: {reason}".format(**each) for each in self.runs[:_SHOWN]]
        further = len(self.runs) - _SHOWN
        return [*found, f"and {further} more, in {self.kept}/_*"] if further > 0 else found

    @property
    def why(self) -> str:
        """Why the study is not complete, and what to do; empty without failed runs."""
        if not self.runs:
            return ""
        what = f"{len(self.runs)} of {self.ended} runs" if self.ended > 1 else "1 run"
        return f"{what} failed: try again with {self.again}"


@dataclass(frozen=True)
class StudyAnswer:
    """What a study answers.

    directory: its own. report: what it found; None for a study that only says where it is. below: lines below the text
    of the report, such as the page's path. about: more for JSON, which comes first. place: how much of the report is
    shown. next: what to do now. failures: the runs that are missing. lack: why the answer is no success, though all
    runs are there.
    """

    directory: Path
    report: Report | None = None
    below: Sequence[Path | str] = ()
    about: Mapping[str, Any] = field(default_factory=dict)
    place: Medium = "terminal"
    next: str = ""
    failures: Failures = Failures()
    lack: str = ""

    def check(self) -> None:
        """Raise WblabError if runs failed, or if the answer is no success."""
        if why := self.lack or self.failures.why:
            raise WblabError(why)


@dataclass(frozen=True)
class Parts:
    """The parts of a study that can be made alone, such as claims: for people and as JSON. heads: of the columns."""

    rows: Sequence[tuple[str, ...]]
    heads: tuple[str, ...]
    data: Sequence[Mapping[str, Any]]


def shard_made(store: Store, failures: Failures) -> StudyAnswer:
    """Return the answer of a part of a study: what it has, and what to do with it."""
    runs, missing = len(store.plan.runs()), len(store.missing())
    about = {"directory": str(store.path), "shard": str(store.plan.shard), "runs": runs, "missing": missing}
    return StudyAnswer(
        store.path,
        below=(store.path,),
        about=about | {"failures": list(failures.runs)},
        next="when all parts are made, put them together: wblab study --merge DIR...",
        failures=failures,
    )
