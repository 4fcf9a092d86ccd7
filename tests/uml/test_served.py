"""A filesystem that a program of the guest serves: whom its server stalls, what explains that, and how a run ends."""

import numpy as np
import pytest
from support.guestlab import Lab

from wblab.analysis.runs.difference import first_differences
from wblab.analysis.runs.run import Run
from wblab.analysis.why.account import ANSWER
from wblab.analysis.why.charges import GONE, SERVER
from wblab.analysis.why.explain import Explanation, explain
from wblab.analysis.why.recorded import read_recorded
from wblab.analysis.why.servedrecord import columns_of, read_served
from wblab.report.whyanswer import sentence
from wblab.report.whycause import groups, throttled

S = 1_000_000_000
BOUND_NS = 50_000_000
# The server is gone once, from second 4 to 9, while l1 copies.
SHORT = ("disk.nas.up=4s", "disk.nas.down=5s", "load.l1.wait=1s", "load.l1.size=8MiB", "trace.lead=1s")
NEVER_GONE = ("disk.nas.up=0s", "disk.nas.down=0s")
ON_MOUNT, BESIDE = ("w-nas", "mw-nas"), ("w-local", "mw-local", "s-local")


@pytest.fixture(scope="module")
def gone(storage_lab: Lab) -> Run:
    return storage_lab.run("served", *SHORT)


def longest_s(run: Run, name: str) -> float:
    return float(run.load(name).pauses_ns.max()) / S


def longest(run: Run, name: str) -> Explanation:
    return max(explain(run, read_recorded(run), name, BOUND_NS), key=lambda item: item.pause_ns)


def test_a_server_that_is_gone_stalls_who_uses_its_mount_and_nobody_else(gone: Run) -> None:
    assert all(4.5 < longest_s(gone, name) < 6.5 for name in ON_MOUNT)
    assert all(longest_s(gone, name) < 0.1 for name in BESIDE)


def test_the_sentence_says_that_the_server_was_gone_and_is_no_disk(gone: Run) -> None:
    item = longest(gone, "mw-nas")
    assert item.chains[0].end == ANSWER
    assert item.charges[0].layer == GONE
    assert item.charges[0].time_ns == pytest.approx(5 * S, rel=0.02)
    text = sentence(groups([item])[0])
    assert "the server of the mount *nas* was gone and answered nobody for" in text
    assert "no disk" in text


def test_while_it_is_gone_the_mount_s_own_limit_stops_writers_and_nobody_s_data_are_blamed(gone: Run) -> None:
    group = groups([longest(gone, "w-nas")])[0]
    cause = throttled(group.longest)
    assert cause
    assert (cause.limit.of, cause.limit.is_mount, cause.is_gone, group.party) == ("disk", True, True, "")
    assert "l1" in cause.dirty
    assert "the kernel stops every writer to that mount" in sentence(group)


def test_a_server_that_is_slow_is_so_for_whoever_sends_it_most(storage_lab: Lab) -> None:
    run = storage_lab.run("served", *SHORT, *NEVER_GONE)
    item = longest(run, "mw-nas")
    main = item.charges[0]
    assert (main.layer, main.party) == (SERVER, "l1")
    assert item.unexplained_ns < 0.1 * item.pause_ns
    alone = storage_lab.run("served", *SHORT, *NEVER_GONE, "load.l1.size=4KiB", "load.l1.wait=6s")
    assert longest_s(alone, "mw-nas") < 0.3 * longest_s(run, "mw-nas")


def test_requests_are_answered_one_at_a_time_and_none_while_the_server_is_gone(gone: Run) -> None:
    column = columns_of(read_served(gone, "nas"))
    asked = column["opcode"] != 26  # FUSE_INIT takes no time
    work_ns = column["size"] * S // (2 << 20) + 1_000_000
    over_ns = (column["answered_ns"] - column["read_ns"] - column["gone_ns"] - work_ns)[asked]
    assert np.all(over_ns >= 0)
    assert np.median(over_ns) < 500_000
    assert np.all(column["read_ns"][1:] >= column["answered_ns"][:-1])
    answered_ns = column["answered_ns"] - gone.zero_ns
    assert not np.any((answered_ns > 4.2 * S) & (answered_ns < 8.8 * S))


def test_all_kinds_of_call_reach_it_and_runs_repeat_to_the_bit(storage_lab: Lab) -> None:
    more = (
        "load.k={kind='commit', disk='nas', file='k', idle='200ms'}",
        "load.m={kind='mapped', disk='nas', file='m', size='64KiB', idle='200ms'}",
        "load.r={kind='read', disk='nas', file='r', size='64KiB', idle='100ms'}",
        "load.g={kind='loop', disk='nas', file='g', idle='100ms'}",
        "disk.nas.depth=4",
    )
    first, second = (storage_lab.run("served", *SHORT, *more) for _ in range(2))
    assert first_differences(first, second) == []
    assert all(len(first.load(name).boundaries_ns) > 5 for name in ("k", "m", "r", "g"))


def test_a_run_ends_although_the_server_never_comes_back(storage_lab: Lab) -> None:
    run = storage_lab.run("served", *SHORT, "disk.nas.down=10h", "load.l1.until=8s", "time_limit=12s")
    assert run.record["outcome"] == "succeeded"
    assert run.record["guest_s"] < 120  # of which a minute is for the loads on the mount, which cannot end
    assert longest_s(run, "w-nas") > 5


def test_without_the_write_cache_each_write_waits_for_its_answer(storage_lab: Lab) -> None:
    run = storage_lab.run("served", *SHORT, *NEVER_GONE, "disk.nas.write_cache=false")
    assert float(np.median(run.load("w-nas").pauses_ns)) > 1_000_000
    assert not np.any(
        columns_of(read_served(run, "nas"))["pid"][columns_of(read_served(run, "nas"))["opcode"] == 16] == 0
    )
