"""Who slept uninterruptibly in a trace as text, for how long and for what, as a report."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from wblab.foreign.judge import Judged, judged
from wblab.foreign.sleeptext import Sleep, Sleeps
from wblab.foreign.state import is_held_up, told
from wblab.lab.printable import printable
from wblab.report.quantities import enumerated, quantity
from wblab.report.report import Block, Column, Lines, Points, Report, Row, Section, Table

_RECORD = "perf record -a -g -e sched:sched_switch sleep 10; perf script > t.txt"
_MOST_ROWS, _MOST_DATA, _MOST_NAMES = 12, 1000, 2
_KERNEL_THREADS = (
    *("kworker/", "jbd2/", "kswapd", "xfsaild/", "kcompactd", "ksoftirqd/", "migration/", "rcu_", "kjournald"),
    *("flush-", "btrfs-", "loop", "dmcrypt_write/"),
)
_NEARLY_ALL = 0.98
_UNKNOWN = "for what, its stack does not say"


@dataclass(frozen=True)
class Slept:
    """The sleeps of one task for one thing. times: how many; slept_s: in all; longest_s: the longest.

    wakers: who woke it how often, the most often first, as far as known.
    """

    first: Judged
    times: int
    slept_s: float
    longest_s: float
    is_over: bool
    wakers: Mapping[str, int] = field(default_factory=dict)

    @property
    def is_program(self) -> bool:
        """Whether it is no thread of the kernel, as far as its name says."""
        return self.first.role == "program" and not self.first.task.comm.startswith(_KERNEL_THREADS)


def slept_of(found: Sleeps) -> list[Slept]:
    """Return the sleeps by task and kind, programs first, the longest in all first."""
    groups: dict[tuple[int, str, str], list[tuple[Judged, Sleep]]] = {}
    kinds: dict[tuple[str, tuple[str, ...]], Judged] = {}
    for sleep in found.sleeps:
        key = sleep.task.comm, tuple(frame.name for frame in sleep.task.frames)
        item = kinds.setdefault(key, judged(sleep.task))
        groups.setdefault((sleep.task.pid, sleep.task.comm, item.wait.what), []).append((item, sleep))
    made = [
        Slept(
            judged(pairs[0][1].task),
            len(pairs),
            sum(sleep.slept_s for _, sleep in pairs),
            max(sleep.slept_s for _, sleep in pairs),
            all(sleep.is_over for _, sleep in pairs),
            dict(Counter(sleep.waker for _, sleep in pairs if sleep.waker).most_common()),
        )
        for pairs in groups.values()
    ]
    return sorted(made, key=lambda each: (not each.is_program, -each.slept_s))


def sleep_report(name: str, found: Sleeps) -> Report:
    """Return the report on the sleeps in a trace. name: of its file."""
    groups = slept_of(found)
    about = (f"{name}: a trace of {quantity(found.lasted_s, 's')} with {found.switches} switches of tasks", "")
    data = {"file": name, "kind": "sleeps", **sleep_data(found, groups)}
    state = told([each.first for each in groups if each.is_program and is_held_up(each.first)])
    blocks: list[Block] = []
    if state.state.measured:
        blocks.append(Section("", (state.state.measured,), close=True))
    if state.state.presets:
        shows: tuple[Block, ...] = ("The lab shows this state in:", Lines(state.state.presets))
        blocks.append(Section("", shows, close=True))
    blocks.append(_table(groups))
    blocks.append(_apart("What this text cannot tell:", Points(tuple(_silent(found)))))
    if not found.has_stacks:
        blocks.append(_apart("To learn for what they slept, record stacks too:", Lines((_RECORD,))))
    return Report(f"{name}: who slept, and for what?", _headline(groups), tuple(blocks), data=data, about=about)


def _headline(groups: Sequence[Slept]) -> str:
    programs = [each for each in groups if each.is_program] or list(groups)
    pids = list(dict.fromkeys(each.first.task.pid for each in programs))
    said = [_of_task([each for each in programs if each.first.task.pid == pid]) for pid in pids[:_MOST_NAMES]]
    more = f" {len(pids) - _MOST_NAMES} more tasks slept less." if len(pids) > _MOST_NAMES else ""
    return f"{' '.join(said)}{more}"


def _of_task(own: Sequence[Slept]) -> str:
    """Return what one task slept for. own: its sleeps by kind, the longest in all first."""
    first = own[0]
    comm = printable(first.first.task.comm)
    all_s, longest_s = sum(each.slept_s for each in own), max(each.longest_s for each in own)
    slept = f"{comm} slept uninterruptibly for {_seconds(all_s)} in all, {_seconds(longest_s)} the longest"
    over = "" if all(each.is_over for each in own) else ", and was still asleep at the end"
    share = f"{_seconds(first.slept_s)} of it " if first.slept_s < _NEARLY_ALL * all_s else ""
    return f"{slept}{over}: {share}{_for_what(first.first)}."


def _for_what(item: Judged) -> str:
    if not item.task.frames or not item.wait.kind or item.wait.kind == "unknown":
        return _UNKNOWN
    return f"{f'in {item.call}() ' if item.call and ' ' not in item.call else ''}{item.wait.what}"


def _table(groups: Sequence[Slept]) -> Table:
    has_wakers = any(each.wakers for each in groups)
    columns = (
        *(Column("task"), Column("slept", "number"), Column("longest", "number"), Column("times", "number", 1)),
        *([Column("woken by", "prose")] if has_wakers else []),
        Column("waits", "prose"),
    )
    rows = [
        Row(
            (
                f"{printable(each.first.task.comm)}-{each.first.task.pid}",
                *(_seconds(each.slept_s), _seconds(each.longest_s), str(each.times)),
                *([_woken_by(each)] if has_wakers else []),
                _for_what(each.first),
            )
        )
        for each in groups[:_MOST_DATA]
    ]
    return Table(columns, tuple(rows), most=_MOST_ROWS)


def _woken_by(item: Slept) -> str:
    """Return who woke a task most often, and how often if not always; empty if nobody is known."""
    name, times = next(iter(item.wakers.items()), ("", 0))
    return f"{printable(name)}{f' ({times} of {item.times})' if times < item.times else ''}" if times else ""


def _silent(found: Sleeps) -> list[str]:
    who = "" if any(sleep.waker for sleep in found.sleeps) else "who woke them, and "
    points = [f"{who}whose data they waited behind: a trace.dat or a recorder's file says more"]
    if not found.has_stacks:
        points.append("for what they slept: it has no stacks")
    if any(not sleep.is_over for sleep in found.sleeps):
        names = dict.fromkeys(printable(sleep.task.comm) for sleep in found.sleeps if not sleep.is_over)
        points.append(f"when {enumerated([*names][:3])} went on: it ends before")
    if found.is_cut:
        points.append("what came later: the text is longer than was read")
    return points


def sleep_data(found: Sleeps, groups: Sequence[Slept]) -> dict[str, Any]:
    """Return what programs read of it."""
    return {
        "switches": found.switches,
        "lasted_s": found.lasted_s,
        "has_stacks": found.has_stacks,
        "slept": [
            {
                "comm": each.first.task.comm,
                "pid": each.first.task.pid,
                "is_program": each.is_program,
                "kind": each.first.wait.kind,
                "what": each.first.wait.what,
                "call": each.first.call,
                "times": each.times,
                "slept_s": each.slept_s,
                "longest_s": each.longest_s,
                "is_over": each.is_over,
                "wakers": dict(each.wakers),
            }
            for each in groups[:_MOST_DATA]
        ],
    }


def _seconds(time_s: float) -> str:
    return quantity(time_s, "s")


def _apart(*blocks: Block) -> Section:
    return Section("", (Section("", blocks, close=True),))
