"""Which processes offend, and which are calm again: a pure rule from written bytes to decisions.

Each process has an exponentially smoothed rate. A process is charged for its descendants too: a share of a child's
writes counts for its parent, even after the child has ended. So the rule finds a script whose many short commands do
the writing. But what an offender writes is charged to nobody else: the shell that started it stays free.

A process offends when its charge exceeds its threshold: `on` of the disk's bandwidth, divided by the number of heavy
writers (above `off`), and only if together they write that much. So a single writer must exceed `on` alone, and of
three that share the disk each is found. It is released when its charge is below `off`, its term is over and it is not
waiting for the disk: a process blocked in a write is not calm, however little it writes.
"""

import json
import math
import os
from collections.abc import Callable, Mapping, Set
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from wblab.core.files import read_json
from wblab.core.units import NS_PER_S
from wblab.lab.held import replace_file
from wblab.live.mitigate.accounting import Usage
from wblab.live.mitigate.configuration import Config
from wblab.machine.trust import distrust

# What is known about disks, kept from one start of the daemon to the next.

_MOST_BYTES, _SHOWN = 1 << 18, 200
_BLOCKS = Path("/sys/block")
LEAST, MOST = 1 << 14, 1 << 36  # bytes/s: estimates outside this range are clamped


@dataclass(frozen=True, kw_only=True)
class Learned:
    """A disk's bandwidth in bytes/s, and whether it has a large write cache of its own."""

    bandwidth: float
    cached: bool = False


def recall(path: Path, *, is_root: bool | None = None) -> tuple[dict[str, Learned], str]:
    """Return the content of the file by disk `identity`, and a description of what cannot be used.

    Disks that cannot be used are measured again. is_root: whether we are; by default, as it is.
    """
    try:
        if _is_root(is_root) and (reason := distrust(path)):
            return {}, f"{path}: {reason}"
        table = read_json(path, _MOST_BYTES)
    except FileNotFoundError:
        return {}, ""
    except OSError as error:
        return {}, f"{path}: {error.strerror}"
    except ValueError as error:
        return {}, f"{path} is not JSON: {error}"
    if not isinstance(table, dict):
        return {}, f"{path} has no table of disks"
    known = {disk: learned for disk, value in table.items() if (learned := _learned(value))}
    strange = sorted(table.keys() - known.keys())
    return known, f"{path}: impossible entries: {', '.join(strange)[:_SHOWN]}" if strange else ""


def remember(path: Path, learned: Mapping[str, Learned], *, is_root: bool | None = None) -> None:
    """Add what is known to the file, if it can be written. May block on the disk: call it last.

    is_root: see `recall`.
    """
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        if _is_root(is_root) and distrust(path.parent):
            return
        table = recall(path)[0] | dict(learned)
        with replace_file(path) as file:
            file.write(json.dumps({disk: asdict(what) for disk, what in table.items()}).encode())


def _is_root(given: bool | None) -> bool:
    return os.geteuid() == 0 if given is None else given


def _learned(value: object) -> Learned | None:
    """Return a row of the file; None if it is impossible."""
    if not isinstance(value, dict) or value.keys() != {"bandwidth", "cached"}:
        return None
    match value["bandwidth"], value["cached"]:
        case int() | float() as bandwidth, bool() as cached if not isinstance(bandwidth, bool):
            return Learned(bandwidth=float(bandwidth), cached=cached) if LEAST <= bandwidth <= MOST else None
        case _:
            return None


def identity(disk: str, blocks: Path = _BLOCKS) -> str:
    """Return what identifies a disk: a stick keeps its model and size in any port. blocks: /sys/block."""
    model = _read(blocks / disk / "device/model")
    return " ".join(filter(None, [model or disk, _read(blocks / disk / "size")]))


def _read(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""


_FORGOTTEN = 1e-3  # rates below this share of the bandwidth count as zero
_MAX_DOUBLINGS = 5
_DEEPEST = 64  # generations


@dataclass(frozen=True)
class RuleLimits:
    """The rule's parameters, as shares of the disk's bandwidth."""

    on: float
    off: float
    child: float
    clip: float
    smoothing_s: float
    hold_s: float

    @classmethod
    def of(cls, config: Config) -> "RuleLimits":
        """Return the parameters in a configuration."""
        return cls(
            on=config.on_percent / 100,
            off=config.off_percent / 100,
            child=config.child_percent / 100,
            clip=config.clip_percent / 100,
            smoothing_s=config.smoothing / NS_PER_S,
            hold_s=config.hold / NS_PER_S,
        )


@dataclass(frozen=True)
class RuleState:
    """What the rule remembers between periods.

    rates: bytes/s by process. offenders: held processes, and since when, in s. terms: how often each was held before.
    """

    rates: Mapping[int, float] = field(default_factory=dict)
    offenders: Mapping[int, float] = field(default_factory=dict)
    terms: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True)
class RuleVerdict:
    """The result of one period: the new state, and the processes to hold and to release, with rates in bytes/s."""

    state: RuleState
    hold: Mapping[int, float]
    release: Mapping[int, float]


AnswersFor = Callable[[int], int | None]


def judge(  # noqa: PLR0913
    state: RuleState,
    usage: Usage,
    answers_for: AnswersFor,
    limits: RuleLimits,
    *,
    waiting: Set[int] = frozenset(),
    bandwidth: float,
    now_s: float,
    period_s: float,
) -> RuleVerdict:
    """Judge a period that ended at `now_s`.

    `usage` has no protected processes; a 0 in its `ended` means that nobody is charged for the process. `answers_for`
    returns who else is charged for a live process, or None. `waiting` are the offenders that wait for the disk.
    `bandwidth` is the disk's, in bytes/s.
    """
    rates = _smoothed(state, usage, bandwidth, period_s, limits)
    offenders = {pid: since_s for pid, since_s in state.offenders.items() if pid not in usage.ended}
    terms = {pid: count for pid, count in state.terms.items() if pid not in usage.ended}
    hold: dict[int, float] = {}
    while found := _worst(rates, offenders.keys() | hold.keys(), answers_for, bandwidth, limits):
        pid, rate = found
        hold[pid] = rate
    families = _families(rates, offenders.keys() | hold.keys(), answers_for, limits.child)
    release = {}
    for pid, since_s in list(offenders.items()):
        rate = families.get(pid, 0)
        term_s = limits.hold_s * 2 ** min(terms.get(pid, 0), _MAX_DOUBLINGS)
        if rate < limits.off * bandwidth and now_s - since_s >= term_s and pid not in waiting:
            release[pid] = rate
            terms[pid] = terms.get(pid, 0) + 1
            del offenders[pid]
    return RuleVerdict(RuleState(rates, offenders | dict.fromkeys(hold, now_s), terms), hold, release)


def succeed(state: RuleState, ended: Mapping[int, int], held_for: Mapping[int, int]) -> RuleState:
    """Return the state in which processes held for an ended offender are held on their own account.

    `held_for` names the offender for whom each process is held.
    """
    heirs = {
        pid: state.offenders[offender]
        for pid, offender in held_for.items()
        if offender in ended and offender in state.offenders and pid not in ended
    }
    return replace(state, offenders={**state.offenders, **heirs}) if heirs else state


def _smoothed(
    state: RuleState, usage: Usage, bandwidth: float, period_s: float, limits: RuleLimits
) -> dict[int, float]:
    """Return the rates after this period; the bytes of ended processes go to those charged for them.

    What one period adds is limited, so a single child, however much it wrote, does not make an offender of its parent.
    """
    kept = math.exp(-period_s / limits.smoothing_s)
    rates = {pid: rate for pid, rate in state.rates.items() if pid not in usage.ended}
    now: dict[int, float] = {}
    bequests: dict[int, float] = {}
    for pid, written in usage.written.items():
        if pid in usage.ended:
            heir, weight = _heir(pid, usage.ended, limits.child)
            bequests[heir] = bequests.get(heir, 0) + weight * written / period_s
        else:
            now[pid] = min(written / period_s, limits.clip * bandwidth)
    for heir, bequest in bequests.items():
        now[heir] = now.get(heir, 0) + min(bequest, limits.child * bandwidth)
    for pid in usage.ended.keys() & state.rates.keys():
        heir, weight = _heir(pid, usage.ended, limits.child)
        rates[heir] = rates.get(heir, 0) + weight * min(state.rates[pid], limits.on * bandwidth)
    smoothed = {
        pid: rates.get(pid, 0) * kept + now.get(pid, 0) * (1 - kept) for pid in rates.keys() | now.keys() if pid
    }
    return {pid: rate for pid, rate in smoothed.items() if rate >= _FORGOTTEN * bandwidth}


def _heir(pid: int, ended: Mapping[int, int], child: float) -> tuple[int, float]:
    """Return the nearest live ancestor (0: none), and the share of `pid`'s writes that is charged to it."""
    weight = 1.0
    for _ in range(len(ended)):
        if pid not in ended:
            break
        pid, weight = ended[pid], weight * child
    return pid, weight


def _families(
    rates: Mapping[int, float], offenders: Set[int], answers_for: AnswersFor, child: float
) -> dict[int, float]:
    """Return the charge of each process, in bytes/s."""
    families: dict[int, float] = {}
    for writer, rate in rates.items():
        pid: int | None = writer
        weight = 1.0
        for _ in range(_DEEPEST):
            if pid is None or weight * rate < 1:
                break
            families[pid] = families.get(pid, 0) + weight * rate
            pid, weight = None if pid in offenders else answers_for(pid), weight * child
    return families


def _worst(
    rates: Mapping[int, float], held: Set[int], answers_for: AnswersFor, bandwidth: float, limits: RuleLimits
) -> tuple[int, float] | None:
    """Return the next offender that is not held yet, a child before its parent."""
    families = _families(rates, held, answers_for, limits.child)
    heavy = {pid for pid, rate in rates.items() if rate >= limits.off * bandwidth}
    sharers = sum(heavy.isdisjoint(_ancestors(pid, answers_for)) for pid in heavy)  # a family counts once
    threshold = limits.on * bandwidth
    if sum(rates.values()) < threshold:
        return None
    over = [pid for pid, rate in families.items() if pid not in held and rate >= threshold / max(1, sharers)]
    if not over:
        return None
    deepest = max(over, key=lambda pid: (len(_ancestors(pid, answers_for)), families[pid], pid))
    return deepest, families[deepest]


def _ancestors(pid: int, answers_for: AnswersFor) -> list[int]:
    """Return the ancestors charged for a process, nearest first."""
    found: list[int] = []
    parent = answers_for(pid)
    while parent is not None and len(found) < _DEEPEST:
        found.append(parent)
        parent = answers_for(parent)
    return found
