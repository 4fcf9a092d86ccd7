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
from wblab.core.units import NS_PER_S
from wblab.lab.packages import tool_path
from wblab.lab.places import ROOT
from wblab.live.gauge.blocked import Blocked
from wblab.live.gauge.counts import Counts
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

    def fires(self, scrapes: list[Scrape], at: int) -> bool:
        """Whether it holds at a scrape: between the first and the last one of its minutes, not extrapolated."""
        since_ns = scrapes[at].at_ns - self.minutes * 60 * NS_PER_S
        first = next(item for item in scrapes if item.at_ns >= since_ns)
        sums: dict[tuple[tuple[str, str], ...], float] = {}
        for (name, labels), value in scrapes[at].values.items():
            if name == self.counter and (self.label is None or self.label in labels):
                key = tuple(pair for pair in labels if pair[0] != self.without)
                # A counter that a scrape does not have yet counts from the next one on, as Prometheus has it.
                sums[key] = sums.get(key, 0.0) + value - first.values.get((name, labels), value)
        length_s = (scrapes[at].at_ns - first.at_ns) / NS_PER_S if self.is_rate else 1.0
        return any(value > self.most * length_s for value in sums.values())


def rules(path: Path = RULES) -> list[Rule]:
    """Return the alerts of a rule file whose form `Rule` knows; others fail."""
    text = path.read_text()
    found = []
    for name, expression in re.findall(r"- alert: (\w+)\n\s+expr: (?:'|>-\n\s+)?(.*?)'?\n", text):
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
    """Return the names of the alerts that fire in a run."""
    seen = scrapes(run)
    return {rule.name for rule in rules() for at in range(len(seen)) if rule.fires(seen, at)}


def replayed(run: Run) -> Iterator[Scrape]:
    """Yield the values each second, from the first traced event on."""
    counts, recorded = Counts(), read_recorded(run)
    names = {disk.device: name for name, disk in run.disks.items()}
    throttling = Throttling(counts, lambda bdi: names.get(bdi, bdi), str)
    for name in names.values():
        throttling.begin(name)
    sleeps = _Sleeps(recorded)
    blocked = Blocked(counts, sleeps.stack)
    events = _events(run)
    next_ns = (events[0].at_ns // NS_PER_S + 1) * NS_PER_S
    for event in [*events, None]:
        while event is None or event.at_ns >= next_ns:
            blocked.look(next_ns, sleeps.at(next_ns))
            yield Scrape(next_ns, _values(counts))
            next_ns += NS_PER_S
            if event is None:
                return
        if event.event == "global_dirty_state":
            count_state(counts, cache_state_of(event, PAGE_BYTES))
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
