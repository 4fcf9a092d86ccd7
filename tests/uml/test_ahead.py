"""The I/O ahead in a disk's queue, and its disk, in runs that are built so that the answer is known."""

from pathlib import Path

import pytest

from wblab.analysis.why.explain import explain
from wblab.analysis.why.recorded import read_recorded
from wblab.report.whyanswer import sentence
from wblab.report.whycause import groups
from wblab.report.whytext import of_cause

DIRECT = "for i in 1 2 3; do dd if=/dev/zero of=d$i bs=4M count=4 oflag=direct & done; wait"
READS = "for i in 0 1 2; do dd if=z of=/dev/null bs=1M skip=$((4*i)) count=4 iflag=direct & done; wait"


def command(wait, text):
    return f"{{kind='command', wait='{wait}', argv=['sh','-c','{text}']}}"


def explained(run):
    return explain(run, read_recorded(run))


@pytest.mark.parametrize(
    ("settings", "whose"),
    [
        ((f"load.l1={command('5s', DIRECT)}",), "l1's dd"),
        (
            (
                "load.l1={kind='load',file='z',wait='0s',size='12MiB',block='64KiB'}",
                f"load.r1={command('30s', READS)}",
            ),
            "read by r1's dd",
        ),
        (("load.l1.size=4KiB", f"load.xfs1={command('5s', DIRECT)}"), "xfs1's dd"),
    ],
    ids=["direct writes", "direct reads", "a load with a name of the kernel's"],
)
def test_direct_io_of_a_child_is_attributed_to_its_load(shared_lab, settings, whose):
    found = explained(shared_lab.run("base-device", "load.l2.size=4KiB", *settings))
    behind = [item for item in found if (request := item.causes[0].request) and whose in request.ahead]
    longest = max(behind, key=lambda item: item.pause_ns)
    ahead = longest.causes[0].request.ahead
    assert longest.pause_ns > 1_000_000_000
    assert ahead[whose] > 0.9 * sum(ahead.values())


def test_writers_to_an_idle_fast_disk_wait_for_dirty_data_of_the_slow_one(shared_lab):
    found = explained(shared_lab.once("two-disks"))
    fast = [
        (item, cause)
        for item in found
        for cause in item.causes
        if item.load.endswith("-fast") and cause.kind == "throttled"
    ]
    assert fast
    assert all(cause.disk == "the disk *fast*" for _, cause in fast)
    assert all(cause.places["the disk *slow*"] > 5 * cause.places["the disk *fast*"] for _, cause in fast)
    idle = [(item, cause) for item, cause in fast if not cause.written]
    assert idle
    assert all("Meanwhile the disk *fast* completed nothing." in of_cause(*each) for each in idle)


@pytest.fixture(scope="module")
def held(shared_lab):
    """The pauses of one run with a delaying device, a loop device on a slow disk, and a group with an I/O limit."""
    return explained(shared_lab.run(str(Path(__file__).with_name("held.toml"))))


def requests_of(found, load):
    longest = max((item for item in found if item.load == load), key=lambda item: item.pause_ns)
    causes = [cause.request for cause in longest.causes]
    return [request for request in (*longest.requests, *causes) if request]


def test_a_delaying_device_is_named_without_io_ahead(held):
    (longest,) = [item for item in held if item.load == "w-delayed"][:1]
    on_it = [
        (chain, request)
        for chain, request in zip(longest.chains, longest.requests, strict=True)
        if request and request.disk == "the disk *below*"
    ]
    assert sum(chain.time_ns for chain, _ in on_it) > 0.9 * longest.pause_ns
    for _, request in on_it:
        assert request.held_by == "by the disk *delayed*, which adds 600 ms to each request (dm-delay)"
        assert 10 * request.held_ns > 9 * (request.done_ns - request.handed_ns)
        assert sum(request.ahead.values()) < 64 << 10


def test_io_ahead_under_io_max_belongs_to_the_group(held):
    longest = max(requests_of(held, "w-limited"), key=lambda request: request.done_ns - request.handed_ns)
    assert longest.held_by == "by io.max of the control group *few*"
    told = [sentence(group) for group in groups(held) if group.items[0].load == "w-limited"]
    assert any("by io.max of the control group *few*, behind 1 MiB from l-limited's dd" in text for text in told)


def test_io_of_a_loop_device_is_attributed_to_the_writer_of_the_device(held):
    longest = max(requests_of(held, "w-loop"), key=lambda request: request.done_ns - request.handed_ns)
    assert longest.below == "the disk *slow*"
    assert longest.ahead["l-loop"] > 0.9 * sum(longest.ahead.values())
    assert not any("kworker" in name for request in requests_of(held, "w-loop") for name in request.ahead)
    assert all(not request.still_ns for request in requests_of(held, "w-loop"))


def test_data_in_the_journal_is_attributed_to_its_writer(shared_lab):
    settings = ("disk.mount_options=['data=journal']", "load.l1.size=24MiB", "load.l2.size=4KiB", "trace.buffer=40MiB")
    found = explained(shared_lab.run("base-device", *settings))
    of_l1 = {"the journal (data of l1)", "l1"}
    named_ns = sum(
        chain.time_ns
        for item in found
        for chain, request in zip(item.chains, item.requests, strict=True)
        if request and next(iter(request.ahead), "") in of_l1
    )
    assert found
    assert named_ns > 0.8 * sum(item.pause_ns for item in found)


def test_dirty_data_for_another_disk_only_is_reported_with_that_disk(shared_lab):
    found = explained(shared_lab.run("two-disks-commit"))
    fast = [
        (item, cause)
        for item in found
        for cause in item.causes
        if cause.kind == "throttled" and cause.disk == "the disk *fast*"
    ]
    alone = [(item, cause) for item, cause in fast if set(cause.places) == {"the disk *slow*"}]
    assert alone
    for item, cause in alone:
        assert any("waiting to be written" in line and "the disk *slow*" in line for line in of_cause(item, cause))


# For each load that waits: what held it, for whom, how long it lasts, and a part of the words.
EXPECTED = {
    "k-cached": ("cache", "l-cached's dd", (5.5, 8.5), ""),
    "k-mapped": ("mapper", "the agent a1", (2.5, 3.1), "because the agent a1 had suspended the disk *mapped*"),
    "k-limited": ("limit", "k-limited", (1.8, 2.1), "io.max of the control group *few*, set by the phase *slow*"),
}


@pytest.fixture(scope="module")
def found(shared_lab):
    run = shared_lab.run(str(Path(__file__).with_name("charged.toml")))
    return explain(run, read_recorded(run))


@pytest.mark.parametrize("load", EXPECTED)
def test_what_held_a_request_is_named_for_what_it_is(found, load):
    layer, party, (least_s, most_s), words = EXPECTED[load]
    longest = max((item for item in found if item.load == load), key=lambda item: item.pause_ns)
    main = longest.charges[0]
    assert (main.layer, main.party) == (layer, party)
    assert words in main.words
    assert least_s < main.time_ns / 1e9 < most_s
    assert main.time_ns > 0.9 * longest.pause_ns
    assert longest.unexplained_ns < 0.05 * longest.pause_ns
