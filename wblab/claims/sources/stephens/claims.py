"""Claims of B. Stephens's thesis on where the time of a synchronous write goes.

His shares are sums of inclusive times by function name; a function's sleep counts as its time. Claims are measured in
two ways: by his sums, of sleep alone because a guest's code takes no virtual time, and by disjoint states.
"""

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import numpy as np

from wblab.analysis.layers.calls import Name
from wblab.analysis.layers.stages import COMPLETION, HELD, QUEUE
from wblab.analysis.statistics.decision import NOT_TESTABLE, at_most, between, over, under
from wblab.claims.sources.claim import Claim, Measure, Samples, untested
from wblab.claims.sources.figures import on_case
from wblab.claims.sources.sample import Sample
from wblab.claims.sources.stephens.latency import (
    DEVICES,
    SIZES,
    call_us,
    device_share,
    latency_claims,
    prefix_share,
    state_share,
)
from wblab.claims.sources.stephens.tracingclaims import event_claims
from wblab.core.units import NS_PER_MS
from wblab.study.statement import Verdict

_WORDS = {"hdd": "a hard disk", "ssd": "an SSD", "ram": "RAM"}
_SHARES, _DURATIONS = "share of time", "durations"
_MOST_BLOCK = 3  # per cent
_WRITE: Name = "write"
_FSYNC: Name = "fsync"
_LIKE = (0.8, 1.25)
_REAL = "sync-real"
_MOST_LATE_MS = 0.5


def ratio(one: tuple[str, Name], other: tuple[str, Name]) -> Callable[[Sample], float]:
    """Return the figure: time of one load's call / time of another's."""
    return lambda sample: call_us(sample, *one) / call_us(sample, *other)


def write_share(sample: Sample, load: str) -> float:
    """Return write() as a share of a load's write() and fsync() together, in per cent."""
    write, fsync = (call_us(sample, load, call) for call in (_WRITE, _FSYNC))
    return 100 * write / (write + fsync)


def rise(size: str) -> Callable[[Sample], float]:
    """Return the figure: the smallest rise, as a factor, of write()'s share from a device to the next faster one."""

    def factor(sample: Sample) -> float:
        shares = [write_share(sample, f"{device}-{size}") for device in DEVICES]
        return min(after / before for before, after in pairwise(shares))

    return factor


def software_share(device: str) -> Callable[[Sample], float]:
    """Return the figure: time of a synchronous write of 4 KiB in RAM / to the device, in per cent."""

    def share(sample: Sample) -> float:
        whole = [sum(call_us(sample, f"{each}-4k", call) for call in (_WRITE, _FSYNC)) for each in (device, "ram")]
        return 100 * whole[1] / whole[0]

    return share


def late_ms(sample: Sample) -> float:
    """Return how late the control load, which only sleeps, woke up, in ms: the median."""
    return float(np.median(sample.run.load("c1").pauses_ns)) / NS_PER_MS


def in_quiet(claim: Claim) -> Claim:
    """Return a claim that ignores runs, made by the host's clock, during which the host was busy."""

    def check(samples: Samples) -> Verdict:
        quiet = {case: [run for run in samples[case] if late_ms(run) <= _MOST_LATE_MS] for case in claim.cases}
        if all(quiet.values()):
            return claim.check(quiet)
        least = min(late_ms(run) for case in claim.cases for run in samples[case])
        why = f"a load that only sleeps woke up {least:.1f} ms late. Repeat the runs on an idle machine"
        return Verdict(NOT_TESTABLE, f"The machine was busy: {why}")

    return replace(claim, check=check)


def stephens_claims() -> tuple[Claim, ...]:
    """Return all claims, in the order of their numbers."""
    claims = [*_layers(), *_durations(), *_software(), *latency_claims(), *event_claims(), *_untested()]
    claims = [in_quiet(claim) if claim.cases == (_REAL,) else claim for claim in claims]
    return tuple(sorted(claims, key=lambda claim: int(claim.name[1:].partition("-")[0])))


def _layers() -> list[Claim]:
    found = []
    for filesystem in ("ext4", "xfs"):
        for device in ("hdd", "ssd"):
            found += _shares(f"{filesystem}-{device}", f"sync-{filesystem}", [f"{device}-{size}" for size in SIZES])
    return found + [
        on_case(f"S2-{size}", "the share of memory management rises as the device gets faster", _SHARES, _REAL,
                Measure(f"rise of write()'s share, {size.upper()}: smallest from a device to the next faster one", "×",
                        rise(size), over(1), "rises from HDD to SSD and to RAM",
                        "Memory management is a part of write(). Work that waits for no device grows as a share"))
        for size in SIZES
    ]  # fmt: skip


def _shares(name: str, case: str, loads: list[str]) -> list[Claim]:
    sums, states = ("sleep in functions of the filesystem and below, as a share of all three prefixes",
                    "share of the time of write() and fsync() that is not the device's")  # fmt: skip
    held = "share of the time of write() and fsync() in which a request is held or queued"
    return [
        on_case(f"S1-sums-{name}", "the filesystem takes most of a synchronous write (his sums)", _SHARES, case,
                Measure(f"{sums}: the smaller of both sizes", "%",
                        lambda run: min(prefix_share(run, load, "FS") for load in loads), over(50), "over half")),
        on_case(f"S1-states-{name}",
                "the filesystem takes most of it with each time counted once, where it is spent", _SHARES, case,
                Measure(f"{states}: the larger of both sizes", "%",
                        lambda run: max(100 - device_share(run, load) for load in loads), over(50), "over half",
                        "His sums book waiting for the device as filesystem")),
        on_case(f"S3-{name}", "the block layer stays at 3 % or less", _SHARES, case,
                Measure(f"{held}: the larger of both sizes", "%",
                        lambda run: max(state_share(run, load, HELD, QUEUE, COMPLETION) for load in loads),
                        at_most(_MOST_BLOCK), "3 % or less",
                        "Counts waiting only, on an idle disk: code takes no virtual time")),
    ]  # fmt: skip


def _durations() -> list[Claim]:
    def measured(name: str, says: str, measure: Measure) -> Claim:
        return on_case(name, says, _DURATIONS, _REAL, measure)

    slower = "Software takes longer in a guest that is a process, so devices lie closer together"
    exceeds = [
        measured(f"S4-{device}", f"at 4 KiB fsync exceeds write() by {says} on {_WORDS[device]}",
                 Measure("fsync / write()", "×", ratio((f"{device}-4k", _FSYNC), (f"{device}-4k", _WRITE)), holds,
                         wanted, note))
        for device, says, holds, wanted, note in (
            ("hdd", "46", over(46), "at least 46 times", "His write() takes 835 µs on a hard disk and 4 in RAM"),
            ("ssd", "27", over(27), "at least 27 times", "An fsync takes 0.3 ms on the model and took 1.4 on his SSD"),
            ("ram", "under 2", under(2), "less than twice", "An fsync switches between two tasks, and switching costs"))
    ]  # fmt: skip
    larger = [
        measured(f"S5-{device}", f"at 1 MiB write() exceeds fsync on {_WORDS[device]}",
                 Measure("write() / fsync", "×", ratio((f"{device}-1m", _WRITE), (f"{device}-1m", _FSYNC)), over(1),
                         "longer", "write() only copies into memory"))
        for device in DEVICES
    ]  # fmt: skip
    faster = [
        measured(f"S6-{device}", f"an fsync in RAM is over {least} times faster than on {_WORDS[device]}",
                 Measure(f"fsync on {_WORDS[device]} / in RAM", "×",
                         ratio((f"{device}-4k", _FSYNC), ("ram-4k", _FSYNC)), over(least), f"over {least} times",
                         slower))
        for device, least in (("hdd", 5000), ("ssd", 200))
    ]  # fmt: skip
    alike = [
        measured(f"S7-{device}", f"8 KiB behaves like 4 KiB on {_WORDS[device]}",
                 Measure("fsync of 8 KiB / of 4 KiB", "×",
                         ratio((f"{device}-8k", _FSYNC), (f"{device}-4k", _FSYNC)), between(*_LIKE),
                         "as long, within a quarter"))
        for device in DEVICES
    ]  # fmt: skip
    return [*exceeds, *larger, *faster, *alike]


def _software() -> list[Claim]:
    note = "Time in RAM stands for the software's time on both; software is slower in a guest"
    cited = "cited: Swanson and Caulfield"
    return [
        on_case("S13-hdd", "software is 0.3 % of an access of 4 KiB to a hard disk", cited, _REAL,
                Measure("time of a synchronous write in RAM / to the HDD", "%", software_share("hdd"), under(1),
                        "less than 1 %", note)),
        on_case("S13-ssd", "software is up to 70 % of an access of 4 KiB to an SSD", cited, _REAL,
                Measure("time of a synchronous write in RAM / to the SSD", "%", software_share("ssd"),
                        between(10, 70), "10 to 70 %", note)),
    ]  # fmt: skip


_UNTESTED = {
    "S1-ram": (
        "the filesystem takes most of a synchronous write, in RAM",
        "nothing sleeps there, and a guest cannot tell which function the processor was in: UML has no function tracer",
    ),
    "S3-ram": (
        "the block layer stays at 3 % or less, in RAM",
        "as S1-ram; that disk also has no queue to wait in (S8)",
    ),
    "S11-smp": (
        "with one processor write_iter stays among the three longest functions",
        "a guest has one processor, so there is nothing to compare with; of the four functions whose calls events "
        "show, one that contains another is never the last",
    ),
    "S12-twice": (
        "were memory management and block layer counted twice, the filesystem would still have 85 %",
        "needs processor time by function (S1-ram). His own figures contradict it: in RAM, at 1 MiB, (81 - 19) / 81 "
        "is 77 %",
    ),
    "S14-scsi": (
        "SCSI dominates where there is a device",
        "a guest's disk has no SCSI layer",
    ),
}


def _untested() -> list[Claim]:
    return [Claim(name, says, "not tested", (), untested(why)) for name, (says, why) in _UNTESTED.items()]
