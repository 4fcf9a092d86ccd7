"""A span of a task's time charged to its states, or to those of the tasks it waited for, to the nanosecond."""

from collections.abc import Iterator
from dataclasses import dataclass

from wblab.analysis.layers.phases import Phases
from wblab.analysis.layers.stages import Disks
from wblab.analysis.why.kinds import UNKNOWN
from wblab.analysis.why.recorded import Recorded

CPU, RUNNABLE, ASLEEP, UNEXPLAINED = "cpu", "runnable", "asleep", UNKNOWN.name
JOURNAL, WORKER, TASK = "journal", "worker", "task"  # other tasks that run, or are ready to run
_IDLE = "idle"
_DEEPEST = 8
_JOURNALS = ("jbd2/", "xfsaild/", "xfs-cil/", "xfs-log/")

Path = tuple[str, ...]  # kinds of wait along the chain, and the final state
Piece = tuple[Path, int, int]  # path, begin and end in ns


@dataclass(frozen=True)
class Charge:
    """The data that time is charged by."""

    recorded: Recorded
    disks: Disks
    phases: Phases

    def of_task(
        self, pid: int, start_ns: int, end_ns: int, path: Path = (), seen: frozenset[int] = frozenset()
    ) -> Iterator[Piece]:
        """Yield consecutive pieces that cover a span of a task's time; some may be empty.

        seen: the tasks that wait for this one; empty for the caller itself.
        """
        recorded, at = self.recorded, start_ns
        busy, ready = (CPU, RUNNABLE) if not seen else (_role(recorded.name(pid)),) * 2
        if seen and (begun := self._begun(pid, start_ns, end_ns)) is not None:
            at = min(int(recorded.offcpu.woken_ns[begun]), end_ns)
            yield from self._of_sleep(begun, start_ns, at, path, seen | {pid})
        for phase, first, last in self.phases.of(pid, at, end_ns):
            named = (*path, phase) if phase and seen else path
            at = first
            for row in recorded.offcpu.rows(pid, first, last):
                out, woken, on = (
                    min(max(int(column[row]), at), last)
                    for column in (recorded.offcpu.ts_ns, recorded.offcpu.woken_ns, recorded.offcpu.on_ns)
                )
                yield (*named, busy), at, out
                if woken > out:
                    yield from self._of_sleep(row, out, woken, named, seen | {pid})
                yield (*named, ready), woken, on
                at = on
            yield (*named, busy), at, last

    def _begun(self, pid: int, start_ns: int, end_ns: int) -> int | None:
        """Return the last span in which a task that is waited for was idle: at its end it began the awaited work."""
        rows = self.recorded.offcpu.rows(pid, start_ns, end_ns)
        return next((row for row in reversed(rows) if self.recorded.verdict(row).kind.name == _IDLE), None)

    def _of_sleep(self, row: int, start_ns: int, end_ns: int, path: Path, seen: frozenset[int]) -> Iterator[Piece]:
        """Charge a sleep, or a part of it, to what ended it. seen: includes the sleeper."""
        recorded = self.recorded
        verdict, last = recorded.verdict(row), recorded.ends(row)
        kind, waker = verdict.kind, int(recorded.offcpu.waker[last])
        followed = len(seen) > 1 and kind.name == _IDLE
        below = path if followed else (*path, ASLEEP if kind.nature == "own will" else kind.name)
        if kind is UNKNOWN or (kind.nature != "waits" and not followed):
            yield below, start_ns, end_ns
        elif verdict.context == "request":
            yield from self._of_request(row, start_ns, end_ns, below, seen)
        elif verdict.context == "task" and 0 < waker not in seen and len(seen) < _DEEPEST:
            yield from self.of_task(waker, start_ns, end_ns, below, seen)
        elif verdict.context == "timer" and below:
            yield below, start_ns, end_ns
        else:
            yield (*below, UNEXPLAINED), start_ns, end_ns

    def _of_request(self, slept: int, start_ns: int, end_ns: int, path: Path, seen: frozenset[int]) -> Iterator[Piece]:
        """Charge a sleep that a request ended to the request's stages, and the time before to the submitting task."""
        wake_rank = int(self.recorded.offcpu.wake_rank[self.recorded.ends(slept)])
        row = self.disks.done.before(wake_rank, self.recorded.cpu(wake_rank))
        if row < 0:
            yield (*path, UNEXPLAINED), start_ns, end_ns
            return
        way, at = self.disks.way(row), start_ns
        if way.handed_ns is not None and way.handed_ns > start_ns:
            at = min(way.handed_ns, end_ns)
            if len(seen) > 1 and at < end_ns:  # until then, the submitting task may itself have waited for the sleeper
                seen = seen - {int(self.recorded.offcpu.pid[slept])} | {-len(seen)}
            if 0 < way.submitter not in seen and len(seen) < _DEEPEST:
                yield from self.of_task(way.submitter, start_ns, at, path, seen)
            else:
                yield (*path, UNEXPLAINED), start_ns, at
        for stage, first, last in way.stages(at, end_ns):
            yield (*path, stage), first, last


def _role(name: str) -> str:
    return JOURNAL if name.startswith(_JOURNALS) else WORKER if name.startswith("kworker/") else TASK
