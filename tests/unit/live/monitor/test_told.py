"""The last seconds of samples in words: who is stopped now; what the samples do not show is unknown."""

import pytest

from wblab.live.monitor.samples import (
    Batch,
    CacheState,
    Pressure,
    SampleSource,
    Throttled,
    Waited,
    Worked,
    WrittenSample,
)
from wblab.live.monitor.told import Told

S, MS, MIB = 10**9, 10**6, 1 << 20
NOW_NS = 100 * S
WHO = "Who held it, samples do not show: wblab why of a capture does."
DD = WrittenSample(NOW_NS, S, "dd", 30 * MIB, "sda")
W1 = WrittenSample(NOW_NS, S, "w1", MIB, "sda")


def told(*, untraced="", **rows):
    found = Told()
    found.begin(SampleSource("this machine", 0, untraced))
    found.add(Batch(NOW_NS, **rows))
    return found


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ({}, "Nobody is seen to be stopped now."),
        ({"writers": (DD,)}, "Nobody is seen to be stopped now."),
        (
            {"throttled": (Throttled(NOW_NS, "w1", 500 * MS, "sda"),), "writers": (W1, DD)},
            "The kernel slows w1 (to sda): dirty memory is near a limit. "
            "In the last minute dd (to sda) wrote most: 30 MiB of the 31 MiB seen.",
        ),
        ({"throttled": (Throttled(NOW_NS, "w1", 100 * MS),)}, "Nobody is seen to be stopped now."),
        (
            {"waits": (Waited("a write", NOW_NS - 4 * S, NOW_NS, over=False),)},
            f"a write has been stopped for 4 s. Whose data the disks are writing is unknown. {WHO}",
        ),
        (
            {"waits": (Waited("a write", NOW_NS - 4 * S, NOW_NS, over=True),), "writers": (DD,)},
            f"a write was stopped for 4 s. In the last minute dd (to sda) wrote most: 30 MiB of the 30 MiB seen. {WHO}",
        ),
        (  # what is to be written is more than anybody was seen to write
            {
                "waits": (Waited("probe", NOW_NS - S, NOW_NS, over=False),),
                "writers": (DD,),
                "states": (CacheState(NOW_NS, 0, 90 * MIB, MIB, MIB),),
            },
            f"A small write has been stopped for 1 s. Whose data the disks are writing is unknown. {WHO}",
        ),
        (
            {"pressures": (Pressure(NOW_NS, S, 500 * MS, 0),), "writers": (WrittenSample(NOW_NS, S, "kworker", MIB),)},
            "In 50 % of the last 3 s some task waited for I/O: for what, and which, is unknown. "
            "Whose data the disks are writing is unknown.",
        ),
    ],
)
def test_the_sentence_says_what_the_samples_show(rows, said):
    assert told(**rows).sentence() == said


def test_without_events_and_a_probe_nothing_is_known():
    assert "is unknown: there are no kernel events" in told(untraced="Permission denied").sentence()
    waits = (Waited("a write", NOW_NS - MS, NOW_NS, over=True),)
    assert told(untraced="Permission denied", waits=waits).sentence() == "Nobody is seen to be stopped now."


def test_what_is_older_than_the_span_is_forgotten():
    wait = Waited("probe", NOW_NS - 4 * S, NOW_NS, over=True)
    found = told(throttled=(Throttled(NOW_NS, "w1", 3 * S),), waits=(wait,))
    found.add(Batch(NOW_NS + S, waits=(Waited("probe", NOW_NS, NOW_NS + MS, over=True),)))
    assert found.sentence().startswith("The kernel slows w1: dirty memory is near a limit. A small write was stopped")
    found.add(Batch(NOW_NS + 5 * S))
    assert found.sentence().startswith("Nobody is seen to be stopped now.")


def test_the_longest_wait_is_remembered_and_not_only_the_last():
    found = told(waits=(Waited("probe", NOW_NS - 24 * S, NOW_NS, over=True),))
    found.add(Batch(NOW_NS + 9 * S, waits=(Waited("probe", NOW_NS + 8 * S, NOW_NS + 9 * S, over=True),)))
    said = "The longest seen: a small write was stopped for 24 s, 9 s ago."
    assert found.sentence().startswith("A small write was stopped for 1 s.")
    assert found.sentence().endswith(said)
    found.add(Batch(NOW_NS + 99 * S))
    assert found.sentence() == f"Nobody is seen to be stopped now. {said.replace('9 s ago', '99 s ago')}"


def test_the_lines_of_a_terminal():
    state = CacheState(NOW_NS, 20 * MIB, 3 * MIB, 10 * MIB, 20 * MIB, 20 * MIB)
    disk = Worked(NOW_NS, S, "sda", 10 * MIB, 990 * MS)
    now, *lines = told(
        states=(state,), writers=(DD, W1), disks=(disk,), pressures=(Pressure(NOW_NS, S, 20 * MS, 10 * MS),)
    ).lines()
    assert now == "now       Nobody is seen to be stopped now."
    assert lines == [
        "dirty     20 MiB dirty, 3 MiB under writeback; background 10 MiB, limit 20 MiB",
        "throttled nobody",
        "writers   dd (to sda) 30 MiB/s, w1 (to sda) 1 MiB/s",
        "disks     sda 10 MiB/s, 99 % busy; I/O pressure: some 2 %, full 1 %",
    ]
