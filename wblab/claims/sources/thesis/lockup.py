"""Claims on the base experiment (the thesis's figure 9, table 3), for each filesystem that the thesis may have used."""

from collections.abc import Callable

import numpy as np

from wblab.analysis.runs.pagecache import DirtyState
from wblab.analysis.runs.run import guest_spec
from wblab.analysis.statistics.decision import NOT_REPRODUCED, NOT_TESTABLE, at_least, at_most, between, over
from wblab.claims.sources.claim import Claim, Measure, Samples
from wblab.claims.sources.figures import share_text, waits_of
from wblab.claims.sources.sample import Sample, in_open_ns, is_throttled, stops
from wblab.core.units import NS_PER_S
from wblab.report.quantities import percent
from wblab.study.statement import Verdict, judge, over_seeds

SEVERAL_S = 2.0  # "several seconds"
COUPLE_S = 3.0  # "a couple of seconds"
NOTICED_S = 0.5  # shorter pauses go unnoticed
ABOUT_25_S = (20.0, 30.0)
STAYS_PUT = 0.10  # of its first value
_FULL = 0.99  # of the limit
_FALLEN = 0.95  # of the gap between threshold and limit
_LONG_NS = NS_PER_S


def fill_time_s(sample: Sample) -> float:
    """Return the time from l1's start until dirty pages plus writeback reach the limit, in s; infinite if never."""
    state, start_ns = sample.traced.state, sample.run.offender_starts_ns()["l1"]
    full = (state.dirty + state.writeback >= _FULL * state.limit) & (state.ts_ns >= start_ns)
    return float(state.ts_ns[full.argmax()] - start_ns) / NS_PER_S if full.any() else float("inf")


def limit_falls_s(sample: Sample) -> float:
    """Return when the gap between threshold and limit stays below 95 % of its maximum, in s.

    The median of each second since the loads started counts, because thresholds fluctuate. Infinite if it never falls.
    """
    state = sample.traced.state
    after = state.where(state.ts_ns >= sample.run.offender_starts_ns()["l1"])
    second, room = (after.ts_ns - sample.run.zero_ns) // NS_PER_S, after.limit - after.threshold
    seconds = np.unique(second)
    medians = np.array([np.median(room[second == each]) for each in seconds])
    above = np.flatnonzero(medians >= _FALLEN * medians.max(initial=0))
    return float(seconds[above[-1] + 1]) if len(above) and above[-1] + 1 < len(seconds) else float("inf")


def last_long_pause_s(sample: Sample) -> float:
    """Return when the last pause of over 1 s of l1 or mw1 ended, in s since the loads started; 0 if there is none."""
    ends = [item.end_ns for item in stops(sample, ("l1", "mw1"), _LONG_NS)]
    return sample.seconds(max(ends)) if ends else 0.0


def last_hard_stop_s(sample: Sample) -> float:
    """Return when the kernel last gave a task a rate of 0, in s since the loads started; infinite if it did not stop.

    It stopped if 50 or more decisions with a rate follow.
    """
    decisions = sample.traced.throttling
    stopped = np.flatnonzero((decisions.task_rate == 0) & (decisions.pause_ns > 0))
    if not len(stopped) or len(decisions) - 1 - stopped[-1] < 50:
        return float("inf")
    return sample.seconds(int(decisions.ts_ns[stopped[-1]]))


def pause_after_l2_s(sample: Sample) -> float:
    """Return the longest pause of w1 and mw1 in cycles that begin after l2's start, in s."""
    start_ns = sample.run.offender_starts_ns()["l2"]
    items = (sample.run.load(name) for name in ("w1", "mw1"))
    return max(float(item.pauses_ns[item.starts_ns >= start_ns].max(initial=0)) for item in items) / NS_PER_S


def flush_share(sample: Sample) -> float:
    """Return the longest pause of w1 and mw1 / the flush time, which is background threshold / throughput."""
    spec = guest_spec(sample.run)
    bound_s = float(np.median(sample.traced.state.background)) / spec.disk[spec.first_disk].write_bps
    return sample.longest_s("w1", "mw1") / bound_s


def threshold_moves(sample: Sample) -> float:
    """Return the range of the dirty or the background threshold, the larger, as a share of its first value."""
    state = _since_start(sample)
    return max(float(np.ptp(column) / column[0]) for column in (state.threshold, state.background))


def limit_at_start(sample: Sample) -> float:
    """Return the dirty limit / the dirty threshold at the loads' start."""
    state = _since_start(sample)
    return float(state.limit[0] / state.threshold[0])


def _since_start(sample: Sample) -> DirtyState:
    """Return the dirty state since the loads' start; before, the guest has more memory (wblab.guest.memory)."""
    state = sample.traced.state
    return state.where(state.ts_ns >= sample.run.zero_ns)


def openat_share(sample: Sample) -> float:
    """Return the share of mw1's long pauses that it spent in openat, by time; NaN if there are none."""
    found = stops(sample, ("mw1",), int(NOTICED_S * NS_PER_S))
    total_ns = sum(stop.duration_ns for stop in found)
    return sum(in_open_ns(sample, stop) for stop in found) / total_ns if total_ns else float("nan")


def throttled_share(sample: Sample, *names: str) -> float:
    """Return the share of long pauses, by time, in which the kernel asked the load to sleep; NaN if there are none."""
    found = stops(sample, names, int(NOTICED_S * NS_PER_S))
    total_ns = sum(stop.duration_ns for stop in found)
    return (
        sum(stop.duration_ns for stop in found if is_throttled(sample, stop)) / total_ns if total_ns else float("nan")
    )


def check_openat(samples: Samples, case: str) -> Verdict:
    """Judge by mw1's stacks; without stacks by openat's events; without those by the kernel's throttling decisions.

    The kernel throttles in write, never in openat.
    """
    runs = samples[case]
    waits = [waits_of(item.run, ("mw1",), int(NOTICED_S * NS_PER_S)) for item in runs]
    if found := [each for each in waits if each]:
        effect = over_seeds(
            f"share of mw1's paused time (pauses over {NOTICED_S} s) in openat",
            "%",
            [each.open_share for each in found],
        )
        paused_ns = sum(each.paused_ns for each in found)
        whole = share_text([each.parts for each in found], paused_ns)
        opens = share_text([each.opens for each in found], paused_ns)
        note = f"Its pauses consist of: {whole}. In openat: {opens}"
        return judge(effect, over(50), "more than half of mw1's paused time is in openat", note)
    throttled = [value for item in runs if (value := throttled_share(item, "mw1")) == value]
    if not throttled:
        return Verdict(NOT_REPRODUCED, f"mw1 has no pause over {NOTICED_S} s")
    note = (
        f"In {percent(float(np.median(throttled)))} of that time the kernel made mw1 sleep (balance_dirty_pages), "
        "which happens in write"
    )
    if all(item.traced.opens.traced for item in runs):
        shares = [value for item in runs if (value := openat_share(item)) == value]
        effect = over_seeds(
            f"share of mw1's paused time (pauses over {NOTICED_S} s) in openat", "%", [100 * x for x in shares]
        )
        return judge(effect, over(50), "more than half of mw1's paused time is in openat", note)
    most = [100 * (1 - value) for value in throttled]
    effect = over_seeds("share of mw1's paused time that is not throttling in write, so can be openat", "%", most)
    if effect.middle < 50:
        return Verdict(NOT_REPRODUCED, f"this kernel has no events for system calls. {note}", effect)
    return Verdict(
        NOT_TESTABLE, f"this kernel has no events for system calls, and throttling does not decide. {note}", effect
    )


def check_start(samples: Samples, case: str) -> Verdict:
    """Not testable: the kernel computes the limit from all memory, of which a spec names only what loads can have."""
    starts = [100 * limit_at_start(item) for item in samples[case]]
    return Verdict(
        NOT_TESTABLE,
        "The kernel computed the limit during boot from all memory. Here that is the spec's memory and what the kernel "
        "takes beside it, which the lab chooses and the thesis does not name",
        over_seeds("dirty limit / dirty threshold at the start", "%", starts),
    )


def base_claims(case: str, on: str) -> list[Claim]:
    """Return the claims of figure 9, tested on one case; `on`: ends their names."""
    source = f"figure 9, on {on}"

    def claim(name: str, says: str, measure: Measure) -> Claim:
        return Claim(f"{name}-{on}", says, source, (case,), measure.on(case))

    return [
        claim(
            "fills",
            "dirty pages reach the dirty limit within a couple of seconds of the offender's start",
            Measure("time to the limit", "s", fill_time_s, at_most(COUPLE_S), f"within {COUPLE_S:g} s"),
        ),
        *(
            claim(
                f"pauses-{name}",
                f"{name} has pauses of several seconds",
                Measure(f"longest pause of {name}", "s", _longest(name), at_least(SEVERAL_S), f"over {SEVERAL_S:g} s"),
            )
            for name in ("l1", "mw1")
        ),
        claim(
            "spared-w1",
            "w1, which appends to an open file, has no pauses",
            Measure(
                "longest pause of w1", "s", _longest("w1"), at_most(NOTICED_S), f"none over {NOTICED_S:g} s", each=True
            ),
        ),
        Claim(f"openat-{on}", "mw1 is blocked in openat", source, (case,), lambda samples: check_openat(samples, case)),
        Claim(
            f"limit-starts-{on}",
            "the dirty limit starts at about 135 % of the dirty threshold",
            source,
            (case,),
            lambda samples: check_start(samples, case),
        ),
        claim(
            "thresholds-stay",
            "both thresholds stay constant",
            Measure(
                "range of the threshold that moves more / its first value",
                "%",
                lambda sample: 100 * threshold_moves(sample),
                at_most(100 * STAYS_PUT),
                f"by no more than {percent(STAYS_PUT)}",
            ),
        ),
        claim(
            "limit-falls",
            "at about 25 s the kernel begins to lower the dirty limit",
            Measure(
                "time when the gap between limit and threshold is 5 % smaller for good",
                "s",
                limit_falls_s,
                between(*ABOUT_25_S),
                "in 20 to 30 s",
                "It keeps falling for half a minute",
            ),
        ),
        claim(
            "pauses-stop",
            "at about 25 s long pauses end",
            Measure(
                "end of the last pause over 1 s of l1 or mw1",
                "s",
                last_long_pause_s,
                between(*ABOUT_25_S),
                "in 20 to 30 s",
            ),
        ),
        claim(
            "rate-limiting",
            "at about 25 s rate limiting takes over",
            Measure(
                "last time that the kernel set a task's rate to 0",
                "s",
                last_hard_stop_s,
                between(*ABOUT_25_S),
                "in 20 to 30 s, and decisions with a rate follow",
            ),
        ),
        claim(
            "l2-harmless",
            "l2 has no effect on the others",
            Measure(
                "longest pause of w1 and mw1 after l2's start",
                "s",
                pause_after_l2_s,
                at_most(NOTICED_S),
                f"none over {NOTICED_S:g} s",
                each=True,
            ),
        ),
    ]


def flush_claim(case: str, on: str) -> Claim:
    """Return the claim that the flush time is an upper bound of pauses, tested on one case."""
    measure = Measure(
        "longest pause of w1 and mw1 / flush time",
        "×",
        flush_share,
        at_most(1.0),
        "at most 1",
        "The flush time is about 10 s here: 10 MiB at 1 MiB/s",
        each=True,
    )
    says = f"no pause is longer than the flush time, background threshold / throughput (here: {on})"
    return Claim(f"flush-bound-{on}", says, "bound of a pause", (case,), measure.on(case))


def _longest(name: str) -> Callable[[Sample], float]:
    return lambda sample: sample.longest_s(name)
