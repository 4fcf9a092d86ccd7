"""The daemon's loop: one period after another, until a signal."""

import signal
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from wblab.core.errors import WblabError
from wblab.core.units import NS_PER_S
from wblab.live.changes.journal import Journal
from wblab.live.mitigate.accountedtasks import Processes, waits_for_disk
from wblab.live.mitigate.accounting import Accounting, Usage, holds_much, queue_bytes, queue_s
from wblab.live.mitigate.configuration import Config
from wblab.live.mitigate.disk import WatchedDisks
from wblab.live.mitigate.measures import LimitMeasure, measures, put_back_strays
from wblab.live.mitigate.report import Action, Event, Say
from wblab.live.mitigate.rule import Learned, RuleLimits, RuleState, judge, recall, remember, succeed
from wblab.live.mitigate.settings import objection
from wblab.machine.cgroup import cgroup_root
from wblab.machine.changes import Change, IoPriority, Membership, Setting
from wblab.report.quantities import column, quantity, size

SIGNALS = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
_LOOKS = 8  # per period, for exited tasks: the socket holds only so many


@dataclass(frozen=True)
class Means:
    """What the daemon acts on, and with: by default, this machine's disks and the measures of the configuration.

    blocks: its /sys/block. disks: watches the configured disk, or all, with what was learned of them. make: makes
    measures by name.
    """

    blocks: Path = Path("/sys/block")
    disks: Callable[[str, Mapping[str, Learned] | None], WatchedDisks] = WatchedDisks
    make: Callable[[Sequence[str], Config, Journal], Sequence[LimitMeasure]] = measures


_MEANS = Means()


class Daemon:
    """A running daemon's state."""

    def __init__(
        self,
        config: Config,
        say: Say,
        accounting: Accounting,
        journal: Journal | None,
        means: Means = _MEANS,
    ) -> None:
        """Without a journal, change nothing: a dry run. Raises WblabError if this machine cannot apply the policy."""
        self._config, self._say, self._journal = config, say, journal
        self._limits = RuleLimits.of(config)
        self._processes = Processes(config.allow, config.only)
        self._accounting = accounting
        learned, ignored = recall(Path(config.learned)) if config.learned else (None, "")
        self._disks = means.disks(config.disk, learned)
        self._means = means
        if ignored:
            say(Event(action="warn", text=f"ignored, and measured again: {ignored}"))
        self._measures: Sequence[LimitMeasure] = means.make(config.policies, config, journal) if journal else []
        for measure in self._measures:
            measure.check(self._disks.name)
        self._more: Sequence[LimitMeasure] | None = None  # for disks with a write cache of their own, once there is one
        self._state = RuleState()
        self._held_for: dict[int, int] = {}  # by process: the offender
        self._lineage: Sequence[Change] = ()  # the journal before the last release
        self._said: set[str] = set()
        self._lost = 0

    def run(self) -> None:
        """Judge one period after another until a signal. Signals are blocked while changes are made."""
        self._accounting.sample(self._processes)
        before_s = time.monotonic()
        while not self._wait():
            now_s = time.monotonic()
            self._disks.follow(now_s - before_s)
            self.period(now_s, now_s - before_s)
            before_s = now_s

    def close(self) -> None:
        """Save the disks' bandwidths for the next start."""
        if self._config.learned and self._journal is not None:
            remember(Path(self._config.learned), self._disks.learned)

    def _wait(self) -> bool:
        """Wait for the end of a period. Return whether a signal ended it."""
        for _ in range(_LOOKS):
            if signal.sigtimedwait(SIGNALS, self._config.period / NS_PER_S / _LOOKS):
                return True
            self._accounting.note_exits()
        return False

    def period(self, now_s: float, period_s: float) -> None:
        """Judge one period and act on the verdict."""
        usage, new = self._accounting.sample(self._processes)
        if self._accounting.lost > self._lost:
            self._lost = self._accounting.lost
            self._say(Event(action="warn", text="tasks exited faster than they were counted: some bytes are missing"))
        bandwidth = self._config.bandwidth or self._disks.bandwidth
        self._warn(bandwidth)
        self._state = succeed(self._state, usage.ended, self._held_for)
        self._put_back_late()
        self._forget_ended(usage)
        self._follow(new)
        self._start_lasting(bandwidth)
        if not bandwidth:
            return
        self._detect_cache(bandwidth)
        verdict = judge(
            self._state,
            self._judged(usage),
            self._answers_for,
            self._limits,
            waiting={offender for pid, offender in self._held_for.items() if waits_for_disk(pid)},
            bandwidth=bandwidth,
            now_s=now_s,
            period_s=period_s,
        )
        self._state = verdict.state
        for pid, rate in verdict.hold.items():
            self._hold(pid, rate, bandwidth)
        if verdict.release:
            self._release(dict(verdict.release), bandwidth)

    def _warn(self, bandwidth: float) -> None:
        """Report each disk's bandwidth once, and any reason why the policy will do little there."""
        disk = self._disks.name
        if bandwidth:
            self._say_once(
                disk, Event(action="note", text=f"{disk} writes {quantity(bandwidth, 'bytes/s')}", disk=disk)
            )
        else:
            text = f"the bandwidth of {disk} is unknown yet: it is measured when {disk} is busy"
            self._say_once(text, Event(action="note", text=text, disk=disk))
        for policy in self._config.policies:
            if text := objection(disk, policy, cgroup_root(), self._means.blocks):
                self._say_once(text, Event(action="warn", text=text, disk=disk))

    def _say_once(self, about: str, event: Event) -> None:
        if about not in self._said:
            self._said.add(about)
            self._say(event)

    def _judged(self, usage: Usage) -> Usage:
        """Return the usage without processes that must not be touched."""
        protected = self._processes.protected
        return Usage(
            {pid: size for pid, size in usage.written.items() if not protected(pid)},
            {pid: 0 if protected(parent) else parent for pid, parent in usage.ended.items()},
        )

    def _answers_for(self, pid: int) -> int | None:
        offender = self._held_for.get(pid)
        if offender is not None and offender != pid:
            return offender
        return self._processes.answers_for(pid)

    def _forget_ended(self, usage: Usage) -> None:
        """Forget ended processes. A process held because of an ended one is now an offender itself."""
        if not self._held_for:
            return
        dead = {pid for pid in self._held_for if pid in usage.ended}
        for pid in dead:
            del self._held_for[pid]
        for pid, offender in self._held_for.items():
            if offender in dead:
                self._held_for[pid] = pid
        self._let_go(dead)

    def _follow(self, new: list[int]) -> None:
        """Hold new threads and children of held processes: they inherited their parent's settings."""
        for pid in sorted(new):
            parent = self._processes.parents.get(pid, 0)
            if parent in self._held_for and pid not in self._held_for:
                self._held_for[pid] = self._held_for[parent]
                self._apply(pid)
        for pid in list(self._held_for):
            self._apply(pid)

    def _hold(self, pid: int, rate: float, bandwidth: float) -> None:
        if not self._held_for:
            self._start([measure for measure in self._measures if not measure.lasting], self._disks.name, bandwidth)
            self._apply_cached(bandwidth, holding=True)
        # A child that offends itself stays an offender.
        family = [member for member in self._processes.family(pid) if member not in self._held_for]
        changes = 0
        for member in {pid, *family}:
            self._held_for[member] = pid
            changes += self._apply(member)
        text = f"{'would be held' if self._journal is None else 'held'} back by {self._config.policy}"
        details = [f"with {len(family) - 1} of its children"] if len(family) > 1 else []
        details += [f"{changes} changes"] if changes else []
        self._event("hold", pid, rate, bandwidth, f"{text} ({', '.join(details)})" if details else text)

    def _start_lasting(self, bandwidth: float) -> None:
        """Start the lasting measures for each disk of known bandwidth, and keep them in force."""
        name = self._disks.name
        for disk, known in (self._disks.bandwidths | ({name: bandwidth} if bandwidth else {})).items():
            lasting = [measure for measure in self._active() if measure.lasting]
            self._start([measure for measure in lasting if disk == name or not measure.shared], disk, known)

    def _detect_cache(self, bandwidth: float) -> None:
        """Apply further policies once a disk's flushes reveal a write cache of its own."""
        disk, flush_s, cached = self._disks.name, self._disks.flush_s, self._disks.cached
        if disk not in cached and holds_much(disk, flush_s, bandwidth, self._means.blocks):
            cached.add(disk)
            own_s = queue_s(disk, bandwidth, self._means.blocks)
            flush, queue = column([flush_s, own_s], "s")
            text = f"flushes of {disk} take {flush}, but its queue only {queue}: it has its own write cache"
            self._say(Event(action="note", text=text, disk=disk))
        self._apply_cached(bandwidth, holding=bool(self._held_for))

    def _apply_cached(self, bandwidth: float, *, holding: bool) -> None:
        """Apply the further policies if the disk is cached. If this machine cannot, warn and go on without."""
        disk = self._disks.name
        if disk not in self._disks.cached or self._journal is None:
            return
        try:
            if self._more is None:
                self._more = self._means.make(self._config.cached_policies, self._config, self._journal)
                for measure in self._more:
                    measure.check(disk)
            if holding:
                self._start([measure for measure in self._more if not measure.lasting], disk, bandwidth)
        except WblabError as error:
            self._more = []
            self._say(Event(action="warn", text=f"{self._config.cached} cannot be applied to {disk}: {error}"))

    def _active(self) -> list[LimitMeasure]:
        """Return the measures for the disk to watch."""
        more = self._more if self._disks.name in self._disks.cached else None
        return [*self._measures, *(more or ())]

    def _start(self, which: list[LimitMeasure], disk: str, bandwidth: float) -> None:
        before = set(self._journal.changes) if self._journal else set()
        for measure in which:
            try:
                measure.start(disk, bandwidth)
            except OSError as error:
                if isinstance(error, FileNotFoundError) and not Path("/sys/block", disk).exists():
                    return  # unplugged meanwhile
                raise WblabError(f"the policy {self._config.policy} cannot be applied: {error}") from None
        made = [change for change in (self._journal.changes if self._journal else ()) if change not in before]
        settings = [change for change in made if isinstance(change, Setting)]
        for change in settings:
            self._say(Event(action="set", text=f"{change.path} to {change.new}"))
        if any(Path(change.path).parent.name == "queue" for change in settings):
            with suppress(FileNotFoundError):  # unplugged meanwhile
                text = f"the queue of {disk} holds at most {size(queue_bytes(disk, self._means.blocks))}"
                self._say(Event(action="note", text=text, disk=disk))

    def _release(self, rates: dict[int, float], bandwidth: float) -> None:
        released = {pid for pid, offender in self._held_for.items() if offender in rates}
        for pid in released:
            del self._held_for[pid]
        self._let_go(released)
        for pid, rate in rates.items():
            self._event("release", pid, rate, bandwidth, "calm again")

    def _let_go(self, pids: set[int]) -> None:
        """Undo what was done to these processes, and to children that the daemon never saw."""
        if self._journal is None or not pids:
            return
        before = list(self._journal.changes)
        failures = self._journal.undo([c for c in before if isinstance(c, IoPriority | Membership) and c.pid in pids])
        failures += put_back_strays(self._journal, before)
        self._lineage = before
        if not self._held_for and not any(measure.lasting for measure in self._measures):
            failures += self._journal.undo(self._journal.changes)  # nobody is held: restore the machine's settings too
        for failure in failures:
            self._say(Event(action="warn", text=failure))

    def _put_back_late(self) -> None:
        """Restore children that were being born when their parent was released: they were invisible then."""
        if self._lineage and self._journal is not None:
            put_back_strays(self._journal, self._lineage)
        self._lineage = ()

    def _apply(self, pid: int) -> int:
        """Apply all measures to a process or its new threads. Return the number of changes."""
        changes = 0
        for measure in self._active():
            try:
                changes += measure.hold(pid)
            except OSError as error:
                self._say(Event(action="warn", pid=pid, text=f"cannot be held back: {error.strerror}"))
        return changes

    def _event(self, action: Action, pid: int, rate: float, bandwidth: float, text: str) -> None:
        name = self._processes.names.get(pid, "")
        share = rate / bandwidth
        self._say(Event(action=action, pid=pid, name=name, rate=rate, share=share, disk=self._disks.name, text=text))
