"""What is said at the end of a user's program: its longest call, what it lacked, its time, whether it repeats."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from wblab.core.rundir import TRACE
from wblab.core.units import NS_PER_S
from wblab.on.calls import Call, calls
from wblab.on.lacks import lacking, lacks_said
from wblab.on.made import Ran, as_json
from wblab.on.order import LOAD, NAME, OURS
from wblab.report.quantities import duration
from wblab.report.report import Column, Row, Table
from wblab.report.text import block_lines

_SHORT_NS = 1_000_000
_MOST_REFUSED = 5  # files that are named
_TOO_LONG = 124  # as timeout(1) ends


@dataclass(frozen=True)
class Told:
    """A program that ran, and what is known of it.

    limit_ns: which no call is to exceed. longest: call. lacks: system calls that its kernel does not have. brought:
    what --keep brought back.
    """

    ran: Ran
    limit_ns: int | None = None
    longest: Call | None = None
    lacks: Sequence[str] = ()
    brought: Sequence[str] = ()

    @property
    def directory(self) -> Path:
        """The run's directory."""
        return self.ran.finished.directory

    @property
    def is_over(self) -> bool:
        """Whether a call took longer than the limit."""
        return bool(self.longest and self.longest.is_over(self.limit_ns))

    @property
    def code(self) -> int:
        """The exit code: the program's, or ours."""
        return self.ran.said.code or (_TOO_LONG if self.is_over else OURS if self.ran.said.unwritten else 0)

    def table(self) -> dict[str, Any]:
        """Return it for programs."""
        longest = self.longest
        return as_json(self.ran) | {
            "lacks": list(self.lacks),
            "longest": longest.__dict__ if longest else None,
            "told": longest.said(self.limit_ns) if longest else "",
            "why": self._why() if longest else "",
            "over_limit": self.is_over,
        }

    def lines(self) -> list[str]:
        """Return it in words, the last line being whether the run repeats."""
        said = [*self.ran.said.notes, *filter(None, [self.ran.said.unwritten])]
        said += lacks_said(self.lacks, self.ran.said.code)
        if refused := self.ran.refused:
            more = f" and {len(refused) - _MOST_REFUSED} more" if len(refused) > _MOST_REFUSED else ""
            names = ", ".join(refused[:_MOST_REFUSED]) + more
            said.append(f"not granted, so they did not exist: {names}: --allow-read PATH grants them")
        said += [f"brought back: {line}" for line in self.brought]
        if self.longest and not (self.ran.order.faults.crashes and self.limit_ns is None):  # else: what is left?
            if self.longest.time_ns < _SHORT_NS:
                said.append("no write, sync, open, rename or the like took longer than 1 ms")
            else:
                said += [f"longest call: {self.longest.said(self.limit_ns)}", f"why: {self._why()}"]
        return [*said, f"run: {self.directory}", self._took()]

    def _why(self) -> str:
        assert self.longest is not None
        return f"wblab why {shlex.quote(str(self.directory))}/{TRACE} --task {self.longest.pid}"

    def _took(self) -> str:
        here_ns = self.ran.finished.record["wall_s"] * NS_PER_S
        took = f"{duration(self.ran.said.time_ns)} in the guest, {duration(here_ns)} here"
        if why_not := self.ran.differs_for:
            return f"{took}; it does not repeat to the bit: {why_not}"
        kernel = str(self.ran.finished.record["spec"]["kernel"])
        chosen = f" --kernel {shlex.quote(kernel)}" if "/" in kernel else ""  # a record may not choose a path by itself
        return f"{took}; to repeat it to the bit: wblab repeat {shlex.quote(str(self.directory))}{chosen}"


def told_of(ran: Ran, limit_ns: int | None, brought: Sequence[str]) -> Told:
    """Return what is known of a program that ran. Raises InputError for a damaged trace."""
    trace, others = ran.finished.directory / TRACE, ("trace-cmd", NAME, LOAD, *ran.order.beside)
    return Told(ran, limit_ns, next(iter(calls(trace, others)), None), lacking(trace), brought)


def compared(several: Sequence[tuple[str, Told]]) -> list[str]:
    """Return as a table in which several runs differ, from their names and what was told; then what is the same."""
    columns = {
        "exit code": [str(told.code) for _, told in several],
        "time": [duration(told.ran.said.time_ns) for _, told in several],
        "longest call": [_longest(told.longest) for _, told in several],
        "output": _letters([_printed(told) for _, told in several]),
    }
    differs = {head: cells for head, cells in columns.items() if len(set(cells)) > 1}
    same = [
        f"{head} {cells[0]}" if head != "output" else head for head, cells in columns.items() if head not in differs
    ]
    lines = []
    if differs:
        rows = zip((name for name, _ in several), *differs.values(), strict=True)
        heads = (Column("run"), *map(Column, differs))
        lines += block_lines(Table(heads, tuple(map(Row, rows))))
    return [*lines, *([f"the same in all {len(several)} runs: {', '.join(same)}"] if same else [])]


def _longest(call: Call | None) -> str:
    return f"{call.name} {duration(call.time_ns)}" if call else "none"


def _printed(told: Told) -> str:
    printed = told.ran.said.table()
    return sha256(f"{printed['stdout_sha256']} {printed['stderr_sha256']}".encode()).hexdigest()


def _letters(digests: Sequence[str]) -> list[str]:
    """Return a letter for each digest, equal ones the same; beyond Z, its number."""
    known = list(dict.fromkeys(digests))
    return [chr(ord("A") + place) if (place := known.index(one)) < 26 else str(place + 1) for one in digests]
