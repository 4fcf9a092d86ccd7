"""Claims on other disks and mounts: without the cache, with BFQ, and on the device disk.

Only the device disk can show the mechanism of the thesis's live runs, where writers wait for the disk, not for the
kernel's throttling. Its time passes below the scheduler.
"""

from collections.abc import Callable

import numpy as np

from wblab.analysis.runs.pauses import whole
from wblab.analysis.statistics.decision import NOT_REPRODUCED, NOT_TESTABLE, Range, at_least, at_most, between, over
from wblab.claims.sources.claim import Claim, Measure, Samples
from wblab.claims.sources.figures import share_text, waits_of
from wblab.claims.sources.sample import Sample, Stop, is_throttled, stops
from wblab.claims.sources.thesis.lockup import NOTICED_S, check_openat, throttled_share
from wblab.core.errors import WblabError
from wblab.core.files import MOST_JSON_BYTES, parse_json, read_bytes
from wblab.core.rundir import agent_log
from wblab.core.units import NS_PER_MS, NS_PER_S
from wblab.report.quantities import percent, quantity
from wblab.study.statement import Verdict, judge, over_seeds, ratio

# Claims on the thesis's daemon, tested with the lab's own: which processes it finds. A benchmark measures its cost.

CASE = "device-daemon"
_LOG = agent_log("mitigate")


def throttled(sample: Sample) -> set[str]:
    """Return the names of the processes that the daemon throttled, from its output in the guest."""
    try:
        lines = read_bytes(sample.run.path / _LOG, MOST_JSON_BYTES).splitlines()
        events = [parse_json(line) for line in lines if line.startswith(b"{")]
        return {str(event["name"]) for event in events if event["action"] == "hold"}
    except (OSError, ValueError, KeyError) as error:
        raise WblabError(f"{sample.run.path / _LOG} is not what a daemon prints: {error}") from None


def found_share(sample: Sample) -> float:
    """Return, of all processes that are throttled or offenders, the share that are both, in per cent; 100: no error."""
    offenders = {item.name for item in sample.run.loads if item.load.role == "offender"}
    found = throttled(sample)
    return 100 * len(found & offenders) / len(found | offenders)


def check_found(samples: Samples) -> Verdict:
    """Judge whether the daemon throttles all offenders and nothing else."""
    shares = [found_share(sample) for sample in samples[CASE]]
    what = "processes both throttled and offenders / either"
    return judge(over_seeds(what, "%", shares), at_least(100), "both offenders and no other process", each=True)


def daemon_claims() -> list[Claim]:
    """Return the claims on the daemon."""
    says = "a daemon finds offenders by the bytes they write and moves them to the idle class"
    return [Claim("daemon-finds", says, "daemon, by wblab mitigate", (CASE,), check_found)]


INNOCENT = ("w1", "mw1")
AT_ONCE_NS = 20 * NS_PER_MS  # "just after"
MANY = 5  # "many inodes", within that time
NO_DIFFERENCE = (0.8, 1.25)
_SAME = "0.8 to 1.25 times"
A_LITTLE = 0.95  # times as long: a smaller change counts as none
MITIGATION = "figures 14 to 16: mitigation, tried on the device disk"
_LONG_NS = NS_PER_S

Figure = Callable[[Sample], float]


def wait_time_s(sample: Sample) -> float:
    """Return the wait time of w1 and mw1 together, in s."""
    return sum(sample.figures(name).wait_time_s for name in INNOCENT)


def paused_s(sample: Sample) -> float:
    """Return the total paused time of w1 and mw1 together, in s."""
    return sum(sample.figures(name).paused_s for name in INNOCENT)


def longest_s(sample: Sample) -> float:
    """Return the longest pause of w1 and mw1, in s."""
    return sample.longest_s(*INNOCENT)


def cycle_s(sample: Sample) -> float:
    """Return w1's median cycle without its sleep, in s."""
    return float(np.median(sample.run.load("w1").pauses_ns)) / NS_PER_S


def follows_release(sample: Sample, time_ns: int) -> bool:
    """Return whether the writing of many inodes ended just before this moment."""
    first, last = np.searchsorted(sample.traced.released_ns, (time_ns - AT_ONCE_NS, time_ns + 1))
    return bool(last - first >= MANY)


def unthrottled(sample: Sample) -> list[Stop]:
    """Return the pauses over 1 s of w1 and mw1 in which the kernel did not throttle them."""
    return [stop for stop in stops(sample, INNOCENT, _LONG_NS) if not is_throttled(sample, stop)]


def chance(sample: Sample) -> float:
    """Return the share of a run's moments that follow a release: the share expected by chance."""
    window = whole(sample.run)
    moments = np.arange(window.start_ns, window.end_ns, AT_ONCE_NS // 2)
    return float(np.mean([follows_release(sample, int(moment)) for moment in moments]))


def check_release(samples: Samples) -> Verdict:
    """Judge whether pauses without throttling end just after sb_clear_inode_writeback events of many inodes."""
    runs = [sample for sample in samples["device"] if unthrottled(sample)]
    if not runs:
        return Verdict(NOT_REPRODUCED, "w1 and mw1 have no pause over 1 s without throttling")
    shares = [
        100 * float(np.mean([follows_release(sample, stop.end_ns) for stop in unthrottled(sample)])) for sample in runs
    ]
    what = f"share of pauses that end within {AT_ONCE_NS // NS_PER_MS} ms of the release of {MANY} inodes or more"
    note = f"By chance it would be {percent(float(np.mean([chance(sample) for sample in runs])))}"
    return judge(over_seeds(what, "%", shares), at_least(90), "9 of 10 pauses or more", note)


def check_cause(samples: Samples) -> Verdict:
    """Judge whether pauses are waits, by w1 or mw1 or the task that blocks them, for an inode being written."""
    waits = [waits_of(sample.run, INNOCENT, int(NOTICED_S * NS_PER_S)) for sample in samples["device"]]
    found = [each for each in waits if each]
    if not found:
        return Verdict(NOT_TESTABLE, f"there is no pause over {NOTICED_S:g} s, or this kernel records no stacks")
    what = f"share of w1's and mw1's paused time (pauses over {NOTICED_S:g} s) waiting for an inode being written"
    effect = over_seeds(what, "%", [each.inode_share for each in found])
    note = (
        f"Their pauses consist of: {share_text([each.parts for each in found], sum(each.paused_ns for each in found))}"
    )
    return judge(effect, over(50), "more than half, counting waits of the tasks that block them", note)


def compared(
    figure: Figure, what: str, cases: tuple[str, str], holds: Range, wanted: str
) -> Callable[[Samples], Verdict]:
    """Return the check of a change by the ratio of runs of the same seed; cases: with the change, and without."""

    def check(samples: Samples) -> Verdict:
        changed, before = ([figure(sample) for sample in samples[case]] for case in cases)
        pairs = min(len(changed), len(before))
        effect = ratio(f"{what}, {cases[0]} / {cases[1]}", changed[:pairs], before[:pairs])
        medians = f"Medians {quantity(float(np.median(changed)), 's')} and {quantity(float(np.median(before)), 's')}"
        return judge(effect, holds, wanted, medians)

    return check


def _mitigation(name: str, says: str, figure: tuple[str, Figure], cases: tuple[str, str], most: float) -> Claim:
    check = compared(figure[1], figure[0], cases, at_most(most), f"at most {most:g} times")
    return Claim(name, says, MITIGATION, cases, check)


def sync_claims() -> list[Claim]:
    """Return the claims of figure 10, with the cache disabled."""
    slower = compared(
        cycle_s,
        "median cycle of w1 without its sleep",
        ("sync", "ext4"),
        over(1.5),
        "over 1.5 times",
    )
    none = Measure(
        "longest pause of w1 and mw1",
        "s",
        longest_s,
        at_most(NOTICED_S),
        f"none over {NOTICED_S:g} s",
        each=True,
    )
    return [
        Claim("sync-no-pauses", "mounted sync, there are no unwanted pauses", "figure 10", ("sync",), none.on("sync")),
        Claim("sync-latency", "mounted sync, every write takes longer", "figure 10", ("sync", "ext4"), slower),
    ]


def live_claims() -> list[Claim]:
    """Return the testable claims of figures 11 to 13: pauses without throttling, on the device disk."""
    source, needs = "figures 11 to 13, their mechanism on the device disk", ("device",)
    several = Measure("longest pause of w1", "s", lambda sample: sample.longest_s("w1"), at_least(2), "over 2 s")
    unasked = Measure(
        f"share of w1's and mw1's paused time (pauses over {NOTICED_S:g} s) without throttling",
        "%",
        lambda sample: 100 * (1 - throttled_share(sample, *INNOCENT)),
        at_least(50),
        "more than half",
        "Only throttling of w1 and mw1 counts; unlike in the thesis, the offender may be throttled meanwhile",
    )
    return [
        Claim("live-w1", "w1 has pauses of seconds too", source, needs, several.on("device")),
        Claim(
            "live-unthrottled",
            "innocent loads pause without being throttled",
            source,
            needs,
            unasked.on("device"),
        ),
        Claim("live-openat", "mw1 is blocked in openat", source, needs, lambda runs: check_openat(runs, "device")),
        Claim(
            "live-cause",
            "the cause is an inode locked (I_SYNC) while its pages are written",
            source,
            needs,
            check_cause,
        ),
        Claim("live-release", "a pause always ends just after many inodes were written", source, needs, check_release),
    ]


def mitigation_claims() -> list[Claim]:
    """Return the claims of figures 14 to 16, on the device disk, and the claim on BFQ in UML."""
    throttled = compared(
        longest_s,
        "longest pause of w1 and mw1",
        ("ext4-bfq", "ext4"),
        between(*NO_DIFFERENCE),
        _SAME,
    )
    bfq, idle = ("device-bfq", "device"), ("device-bfq-idle", "device")
    longest, wait, paused = ("longest pause", longest_s), ("wait time", wait_time_s), ("total paused time", paused_s)
    return [
        Claim(
            "bfq-throttled",
            "BFQ makes no difference on the throttled disk",
            MITIGATION,
            ("ext4-bfq", "ext4"),
            throttled,
        ),
        _mitigation("bfq-longest", "BFQ alone helps a little: longest pause", longest, bfq, A_LITTLE),
        _mitigation("bfq-wait", "BFQ alone helps a little: wait time", wait, bfq, A_LITTLE),
        _mitigation("bfq-idle-longest", "BFQ and the idle class halve the longest pause", longest, idle, 0.6),
        _mitigation("bfq-idle-wait", "BFQ and the idle class divide the wait time by about 3", wait, idle, 0.45),
        _mitigation("bfq-idle-paused", "BFQ and the idle class cut the total paused time by 30 %", paused, idle, 0.8),
        _mitigation("idle-adds", "the idle class adds to what BFQ does", longest, (idle[0], bfq[0]), A_LITTLE),
    ]


def limit_claims() -> list[Claim]:
    """Return the claims on limiting offenders by control group, on the device disk."""
    longest, wait = ("longest pause", longest_s), ("wait time", wait_time_s)

    def none(name: str, says: str, case: str) -> Claim:
        cases = (case, "group")
        return Claim(
            name, says, MITIGATION, cases, compared(longest_s, longest[0], cases, between(*NO_DIFFERENCE), _SAME)
        )

    everything = ("group-all", "group")
    return [
        none("memory-limit", "a limit on the offenders' memory has no effect", "group-memory"),
        none("io-limit", "a limit on the offenders' block I/O has no effect", "group-io"),
        _mitigation("all-longest", "BFQ, the idle class and memcg halve the longest pause", longest, everything, 0.6),
        _mitigation(
            "all-wait", "BFQ, the idle class and memcg divide the wait time by about 3", wait, everything, 0.45
        ),
    ]
