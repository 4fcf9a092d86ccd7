"""How long the calls of a program took, from the trace of its run: which was the longest, and whose."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import tracecmd
from tracecmd import TraceError

from wblab.core.errors import InputError
from wblab.core.units import NS_PER_S
from wblab.lab.printable import printable
from wblab.on.world import CALLS
from wblab.report.quantities import duration

_ENTER, _EXIT = "raw_syscalls:sys_enter", "raw_syscalls:sys_exit"
# Calls in which a program waits for another one as often as for a disk are told apart by what they do to files.
_CHANGES = frozenset(CALLS.values()) - {"read", "readv", "close", "pread64", "preadv"}
_INIT = 1  # the guest's first process


@dataclass(frozen=True)
class Call:
    """A system call: its name, by which program and task, and how long it took, in ns.

    begin_ns: since the program's first call.
    """

    name: str
    program: str
    pid: int
    begin_ns: int
    time_ns: int

    def said(self, limit_ns: int | None) -> str:
        """Return the call in words, and whether it is over a limit."""
        text = f"{self.name} of {self.program}, {duration(self.time_ns)}, at {self.begin_ns / NS_PER_S:.2f} s"
        if limit_ns is None:
            return text
        return f"{text}: {'over the limit of' if self.is_over(limit_ns) else 'within'} {duration(limit_ns)}"

    def is_over(self, limit_ns: int | None) -> bool:
        """Whether it took longer than a limit."""
        return limit_ns is not None and self.time_ns > limit_ns


def calls(trace: Path, without: Sequence[str]) -> list[Call]:
    """Return the calls of programs that change files, the longest first. without: names of tasks that are left out.

    Raises InputError for a damaged trace.
    """
    try:
        with tracecmd.open(trace) as opened:
            if not {"sys_enter", "sys_exit"} & set(opened.names):
                return []
            found = _paired(opened, set(without))
    except (OSError, TraceError) as error:
        raise InputError(f"cannot read {trace}: {error}") from None
    first_ns = min((call.begin_ns for call in found), default=0)
    return sorted((replace(call, begin_ns=call.begin_ns - first_ns) for call in found), key=lambda call: -call.time_ns)


def _paired(trace: tracecmd.TraceFile, without: set[str]) -> list[Call]:
    enters, exits = (trace.events(name.partition(":")[2]) for name in (_ENTER, _EXIT))
    pids = np.concatenate([enters.pid, exits.pid])
    times_ns = np.concatenate([enters.ts_ns, exits.ts_ns])
    numbers = np.concatenate([enters["id"], exits["id"]])
    is_exit = np.concatenate([np.zeros(len(enters), bool), np.ones(len(exits), bool)])
    names = np.concatenate([enters.comm, exits.comm])
    sequence = trace.sequence()  # a call may begin in the very ns in which the one before ended
    order = np.lexsort((np.concatenate([sequence.ranks(enters), sequence.ranks(exits)]), pids))
    found = []
    for at, then in zip(order[:-1].tolist(), order[1:].tolist(), strict=True):
        if is_exit[at] or not is_exit[then] or pids[at] != pids[then] or numbers[at] != numbers[then]:
            continue
        name, program = CALLS.get(int(numbers[at]), ""), str(names[then])
        if name in _CHANGES and program not in without and pids[at] != _INIT:
            spent_ns = int(times_ns[then] - times_ns[at])
            found.append(Call(name, printable(program), int(pids[at]), int(times_ns[at]), spent_ns))
    return found
