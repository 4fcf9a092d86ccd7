"""A recorded run fed to the gauge in place of a machine: the same counters, a second of the guest's clock apart."""

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from wblab.analysis.runs.run import Run
from wblab.analysis.why.recorded import Recorded, read_recorded
from wblab.core import rundir
from wblab.core.units import NS_PER_MS, NS_PER_S
from wblab.lab.packages import tool_path
from wblab.lab.places import ROOT
from wblab.live.gauge.blocked import Blocked
from wblab.live.gauge.catalogue import BUSY
from wblab.live.gauge.counts import Counts
from wblab.live.gauge.disks import Idleness
from wblab.live.gauge.thismachine import count_state
from wblab.live.gauge.throttling import EVENTS, Throttling
from wblab.live.monitor.tracetext import LostEvents, TraceLine, TraceText, cache_state_of
from wblab.machine.tasks import Asleep

PAGE_BYTES = 4096
RULES = ROOT / "misc" / "prometheus" / "wblab.rules.yml"
# What a guest must record so that the gauge can be fed.
RECORDED = "trace.events=" + repr([*EVENTS, "writeback:global_dirty_state"]).replace("'", '"')
_UNINTERRUPTIBLE = 2  # TASK_UNINTERRUPTIBLE, include/linux/sched.h
_EXPRESSION = re.compile(
    r"(?:sum without ?\((?P<without>\w+)\) ?\()?(?P<how>increase|rate)\((?P<name>\w+)"
    r"(?:\{(?P<label>\w+)=\"(?P<value>\w+)\"\})?\[(?P<minutes>\d+)m\]\)\)? > (?P<most>[\d.]+)"
)
_REQUEST = re.compile(rb"(\d+),(\d+) .*\) (\d+) \+ (\d+) ")

Values = dict[tuple[str, tuple[tuple[str, str], ...]], float]  # by name and labels


@dataclass(frozen=True)
class Scrape:
    """The exported values at a time of the guest."""

    at_ns: int
    values: Values


@dataclass(frozen=True)
class Rule:
    """An alert: a counter's increase in so many minutes, or a second of them, summed over a label, is over a number."""

    name: str
    counter: str
    minutes: int
    most: float
    is_rate: bool
    label: tuple[str, str] | None
    without: str

    def firing(self, scrapes: list[Scrape], at: int) -> list[dict[str, str]]:
        """Return the labels for which it holds at a scrape: from the first one of its minutes, not extrapolated."""
        since_ns = scrapes[at].at_ns - self.minutes * 60 * NS_PER_S
        first = next(item for item in scrapes if item.at_ns >= since_ns)
        length_s = (scrapes[at].at_ns - first.at_ns) / NS_PER_S
        sums: dict[tuple[tuple[str, str], ...], float] = {}
        for (name, labels), value in scrapes[at].values.items():
            if name == self.counter and (self.label is None or self.label in labels):
                key = tuple(pair for pair in labels if pair[0] != self.without)
                # A counter that a scrape does not have yet counts from the next one on, as Prometheus has it.
                sums[key] = sums.get(key, 0.0) + value - first.values.get((name, labels), value)
        most = self.most * (length_s if self.is_rate else 1.0)
        found = [key for key, value in sums.items() if value > most]
        return [dict(key) for key in found]


def rules(path: Path = RULES) -> list[Rule]:
    """Return the alerts of a rule file whose form `Rule` knows; others fail."""
    text = path.read_text()
    found = []
    for name, lines in re.findall(r"- alert: (\w+)\n +expr: (?:>-)?(.*?)\n +labels:", text, re.DOTALL):
        expression = " ".join(lines.split())
        if not (match := _EXPRESSION.fullmatch(expression)):
            raise AssertionError(f"{name}: {expression}")
        label = (match["label"], match["value"]) if match["label"] else None
        minutes, most, is_rate = int(match["minutes"]), float(match["most"]), match["how"] == "rate"
        found.append(Rule(name, match["name"], minutes, most, is_rate, label, match["without"] or ""))
    return found


def scrapes(run: Run, apart_s: int = 15, after_s: int = 60) -> list[Scrape]:
    """Return what a monitoring system that asks at intervals sees of a run, until some time after its end."""
    ticks = list(replayed(run))
    while after_s:
        ticks.append(Scrape(ticks[-1].at_ns + NS_PER_S, ticks[-1].values))
        after_s -= 1
    return ticks[::apart_s]


def fired(run: Run) -> set[str]:
    """Return the names of the alerts that fire in a run, with their disk if they have one."""
    seen = scrapes(run)
    return {
        " ".join((rule.name, *filter(None, [labels.get("disk")])))
        for rule in rules()
        for at in range(1, len(seen))
        for labels in rule.firing(seen, at)
    }


def replayed(run: Run) -> Iterator[Scrape]:
    """Yield the values each second, from the first traced event on."""
    counts, recorded = Counts(), read_recorded(run)
    names = {disk.device: name for name, disk in run.disks.items()}
    throttling = Throttling(counts, lambda bdi: names.get(bdi, bdi), str)
    for name in names.values():
        throttling.begin(name)
    idleness, disks, sleeps = Idleness(counts), _Busy(counts, names), _Sleeps(recorded)
    blocked = Blocked(counts, sleeps.stack)
    events = _events(run)
    next_ns = (events[0].at_ns // NS_PER_S + 1) * NS_PER_S
    for event in [*events, None]:
        while event is None or event.at_ns >= next_ns:
            blocked.look(next_ns, sleeps.at(next_ns))
            disks.count(next_ns)
            idleness.look(next_ns)
            throttling.settle(idleness.is_idle)
            yield Scrape(next_ns, _values(counts))
            next_ns += NS_PER_S
            if event is None:
                return
        if event.event == "global_dirty_state":
            count_state(counts, cache_state_of(event, PAGE_BYTES))
        elif event.event.startswith("block_"):
            disks.event(event)
        else:
            throttling.count(event)


def _values(counts: Counts) -> Values:
    return {
        (metric.name, tuple(zip(metric.labels, labels, strict=True))): value
        for metric, rows in counts.all().items()
        for labels, value in rows.items()
    }


def _events(run: Run) -> list[TraceLine]:
    """Return the events of a run's trace, from the text that trace-cmd makes of it."""
    command = [str(tool_path("trace-cmd")), "report", str(run.path / rundir.TRACE)]
    text = subprocess.run(command, capture_output=True, check=True).stdout
    found = [item for item in TraceText().feed(text) if not isinstance(item, LostEvents)]
    return sorted(found, key=lambda item: item.at_ns)


class _Busy:
    """When disks had a request, as /proc/diskstats counts it."""

    def __init__(self, counts: Counts, names: dict[str, str]) -> None:
        self._counts, self._names = counts, names
        self._since_ns, self._busy_ns = (dict.fromkeys(names.values(), 0) for _ in range(2))
        self._flying: dict[str, set[int]] = {name: set() for name in names.values()}  # by the sector where each ends

    def event(self, line: TraceLine) -> None:
        """Note that a request was issued or completed."""
        match = _REQUEST.match(line.text)
        if not match or line.event not in ("block_rq_issue", "block_rq_complete"):
            return
        major, minor, first, count = map(int, match.groups())
        if disk := self._names.get(f"{major}:{minor}"):
            self._pass(disk, line.at_ns)
            # A disk may complete a request in parts. A flush has no sectors.
            (set.add if line.event == "block_rq_issue" else set.discard)(
                self._flying[disk], first + count if count else -1
            )

    def count(self, now_ns: int) -> None:
        """Export the time so far, in ms."""
        for disk in self._names.values():
            self._pass(disk, now_ns)
            self._counts.put(BUSY, self._busy_ns[disk] // NS_PER_MS, disk)

    def _pass(self, disk: str, now_ns: int) -> None:
        if self._flying[disk]:
            self._busy_ns[disk] += now_ns - self._since_ns[disk]
        self._since_ns[disk] = now_ns


class _Sleeps:
    """The uninterruptible sleeps of a trace, as /proc would show them."""

    def __init__(self, recorded: Recorded) -> None:
        self._recorded, spans = recorded, recorded.offcpu
        switches = recorded.trace.events("sched_switch")
        is_blocked = (switches["prev_state"].astype(np.int64) & _UNINTERRUPTIBLE) != 0
        ranks = recorded.sequence.ranks(switches)[is_blocked]
        self._rows = np.flatnonzero(np.isin(spans.rank, ranks))
        self._now: dict[int, int] = {}

    def at(self, at_ns: int) -> list[Asleep]:
        """Return the tasks that sleep at a time."""
        spans = self._recorded.offcpu
        rows = self._rows[(spans.ts_ns[self._rows] <= at_ns) & (spans.woken_ns[self._rows] > at_ns)]
        self._now = {int(spans.pid[row]): int(row) for row in rows}
        return [Asleep(pid, row, self._is_kernel(row)) for pid, row in self._now.items()]

    def stack(self, pid: int) -> list[str]:
        """Return the stack of a task that sleeps now."""
        return list(self._recorded.sleep_stack(self._now[pid]))

    def _is_kernel(self, row: int) -> bool:
        spans, tasks = self._recorded.offcpu, self._recorded.tasks
        return tasks.is_kernel(tasks.lives.key(int(spans.pid[row]), int(spans.rank[row])))
