"""Everything that a run recorded to explain its pauses.

Here and in what is built on it: a row is the index of a span in `offcpu`, a rank an event's number in the order of
time, and a key a task's identity, as a pid may be used again.
"""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar, cast

import numpy as np
import tracecmd
from numpy.typing import NDArray
from tracecmd import TraceError
from tracecmd.sequence import Sequence

from wblab.analysis.runs.captures import Capture
from wblab.analysis.runs.pagecache import PageCache, page_cache
from wblab.analysis.runs.places import NEVER
from wblab.analysis.runs.run import Run
from wblab.analysis.why.balances import Balances, read_balances
from wblab.analysis.why.classify import Classified, judged
from wblab.analysis.why.completing import Awaited, read_awaited, with_completions
from wblab.analysis.why.kinds import UNKNOWN
from wblab.analysis.why.lives import Lives, read_lives
from wblab.analysis.why.losses import Span, lost_spans, shared_ns, with_losses
from wblab.analysis.why.offcpu import SWITCH, OffCpu, Stack, Stacks, read_offcpu, read_stacks, switched_names
from wblab.analysis.why.paths import Paths, read_paths
from wblab.analysis.why.requests import Dirtied, Done, Moved, SentPages, read_requests
from wblab.analysis.why.servedrecord import sent_pages
from wblab.analysis.why.tasks import Tasks, read_tasks
from wblab.core.errors import InputError
from wblab.core.spec import Spec
from wblab.lab.specfile import LiveSpec

Made = TypeVar("Made")

_KERNEL_THREAD, _PROGRAM = ("kthread",), ("sys_", "__x64_sys_", "__se_sys_", "handle_syscall", "do_syscall_64")
_AT_ONCE_NS = 1_000_000  # a task that sleeps again in the same place within this time was woken in vain


@dataclass(frozen=True)
class Recorded:
    """The columns of a trace that explain pauses, and its tasks.

    start_ns, end_ns: the span that the trace covers; lost: spans within it in which events were lost. groups: the paths
    of tasks' control groups, by pid, as far as noted. sent: the pages that servers of filesystems got. What disks did
    is read on first use, because sums of waits do not need it. That raises InputError for a damaged trace.
    """

    trace: tracecmd.TraceFile
    sequence: Sequence
    stacks: Stacks
    offcpu: OffCpu
    tasks: Tasks
    start_ns: int = 0
    end_ns: int = NEVER
    lost: tuple[Span, ...] = ()
    groups: Mapping[int, str] = field(default_factory=dict)
    sent: SentPages | None = None
    _verdicts: dict[tuple[int, int], Classified] = field(default_factory=dict, repr=False)
    _made: dict[Hashable, Any] = field(default_factory=dict, repr=False)

    def covered(self, start_ns: int, end_ns: int) -> tuple[int, int]:
        """Return the part of a span that the trace covers; empty if it covers nothing of it."""
        first_ns = min(max(start_ns, self.start_ns), end_ns)
        return first_ns, max(first_ns, min(end_ns, self.end_ns))

    def lost_ns(self, start_ns: int, end_ns: int) -> int:
        """Return how much of a span lies in spans with lost events, in ns."""
        return shared_ns(self.lost, start_ns, end_ns)

    def cpu(self, rank: int) -> int:
        """Return the processor of an event."""
        return int(self.sequence.walked.cpu[self.sequence.order[rank]])

    @property
    def moved(self) -> Moved:
        """The bytes that disks completed, by who dirtied them."""
        return self._requests[0]

    @property
    def done(self) -> Done:
        """The requests that disks completed."""
        return self._requests[1]

    @property
    def dirtied(self) -> Dirtied:
        """The pages of files that became dirty."""
        return self._requests[2]

    @cached_property
    def awaited(self) -> Awaited:
        """The blocks that tasks announced to wait for."""
        try:
            return read_awaited(self.trace, self.sequence)
        except TraceError as error:
            raise InputError(str(error)) from None

    @cached_property
    def paths(self) -> Paths:
        """The files that programs named in system calls."""
        try:
            return read_paths(self.trace, self.sequence)
        except TraceError as error:
            raise InputError(str(error)) from None

    @cached_property
    def balances(self) -> Balances:
        """The kernel's decisions to throttle."""
        try:
            return read_balances(self.trace, self.sequence)
        except TraceError as error:
            raise InputError(str(error)) from None

    @cached_property
    def _requests(self) -> tuple[Moved, Done, Dirtied]:
        try:
            return read_requests(self.trace, self.sequence, self.tasks, self.sent)
        except TraceError as error:
            raise InputError(str(error)) from None

    def once(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """Return what is made of this recording for a key, made on first use."""
        if key not in self._made:
            self._made[key] = make()
        return cast(Made, self._made[key])

    def name(self, pid: int, rank: int = NEVER) -> str:
        """Return the name of the task that has a pid at a place in the trace, with the load's if that started it."""
        return self.tasks.name(self.tasks.lives.key(pid, rank))

    def rank_at(self, ns: int) -> int:
        """Return the place in the trace of the first event at a time or later."""
        return int(np.searchsorted(self._times_ns, ns))

    @cached_property
    def _times_ns(self) -> NDArray[np.int64]:
        return self.sequence.ts_ns

    def sleep_stack(self, row: int) -> Stack:
        """Return the sleeper's stack of a span of `offcpu`."""
        return self.stacks.known[int(self.offcpu.stack[row])]

    def wake_stack(self, row: int) -> Stack:
        """Return the waker's stack of a span of `offcpu`."""
        return self.stacks.known[int(self.offcpu.wake_stack[row])]

    def stack_at(self, rank: int) -> Stack:
        """Return the stack that was recorded with an event; empty if none was."""
        return self.stacks.known[int(self.stacks.of(np.array([rank]))[0])]

    def verdict(self, row: int) -> Classified:
        """Return the verdict of both stacks of a span of `offcpu`.

        If a task was woken in vain and slept again in the same place, the end of the last of these sleeps counts.
        """
        last = row
        while self._is_vain(last):
            last += 1
        found = self._pair(int(self.offcpu.stack[row]), int(self.offcpu.wake_stack[last]))
        return found if last == row else replace(found, vain=last - row)

    def ends(self, row: int) -> int:
        """Return the last span of `offcpu` of a wait that began with this one."""
        while self._is_vain(row):
            row += 1
        return row

    def request(self, row: int) -> int:
        """Return the row of `done` that ended the wait that began with this span of `offcpu`; -1 for none."""
        rank = int(self.offcpu.wake_rank[self.ends(row)])
        return self.done.before(rank, self.cpu(rank)) if rank >= 0 else -1

    def _is_vain(self, row: int) -> bool:
        spans, again = self.offcpu, row + 1
        if again >= len(spans) or spans.pid[again] != spans.pid[row] or spans.stack[again] != spans.stack[row]:
            return False
        here = self._pair(int(spans.stack[row]), int(spans.wake_stack[row]))
        soon = spans.ts_ns[again] - spans.woken_ns[row] <= _AT_ONCE_NS
        return bool(soon) and here.kind is UNKNOWN and here.said is not UNKNOWN

    def _pair(self, sleep: int, wake: int) -> Classified:
        if (sleep, wake) not in self._verdicts:
            self._verdicts[sleep, wake] = judged(self.stacks.known[sleep], self.stacks.known[wake])
        return self._verdicts[sleep, wake]


def explains(cache: PageCache) -> bool:
    """Whether a run recorded the events that explain its pauses."""
    return SWITCH in cache.trace.names


def read_recorded(run: Run, capture: Capture | None = None, cache: PageCache | None = None) -> Recorded:
    """Read what a run or one of its captures recorded. cache: the run's trace, if already read.

    Raises InputError if nothing was recorded that explains a pause.
    """
    cache = cache or page_cache(run, capture.path if capture else None)
    try:
        if not explains(cache):
            raise InputError(
                f"{cache.trace.path} does not have what explains a pause: make the run again, "
                + ("with --capture-pauses" if isinstance(run.spec, LiveSpec) else "with --set trace.blame=always")
            )
        recorded = recorded_of(cache, tuple(run.spec.agent) if isinstance(run.spec, Spec) else ())
        recorded = replace(recorded, sent=sent_pages(run))
    except TraceError as error:
        raise InputError(str(error)) from None
    if capture is None:
        return recorded
    window = capture.window
    return replace(recorded, start_ns=window.start_ns, end_ns=window.end_ns, groups=capture.groups)


def recorded_of(cache: PageCache, agents: tuple[str, ...] = ()) -> Recorded:
    """Return what a trace recorded. agents: names of programs beside the loads. Raises TraceError if it is damaged."""
    trace = cache.trace
    sequence = trace.sequence()
    stacks = read_stacks(trace, sequence)
    stacks, offcpu = with_completions(trace, sequence, stacks, read_offcpu(trace, sequence, stacks))
    lost, lives = lost_spans(trace), read_lives(trace, sequence)
    names = switched_names(trace) | trace.comms
    sleepers = tuple(_sleeping(stacks, offcpu, lives, inside) for inside in (_KERNEL_THREAD, _PROGRAM))
    return Recorded(
        trace=trace,
        sequence=sequence,
        stacks=stacks,
        offcpu=with_losses(offcpu, lost),
        lost=lost,
        tasks=read_tasks(trace, sequence, lives, names, cache.load_names, agents, *sleepers),
    )


def _sleeping(stacks: Stacks, offcpu: OffCpu, lives: Lives, inside: tuple[str, ...]) -> frozenset[int]:
    """Return the tasks that slept in a function whose name begins so."""
    chosen = [at for at, stack in enumerate(stacks.known) if any(name.startswith(inside) for name in stack)]
    rows = np.flatnonzero(np.isin(offcpu.stack, chosen))
    return frozenset(lives.keys(offcpu.pid[rows], offcpu.rank[rows]).tolist())
