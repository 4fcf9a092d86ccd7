"""The limit that throttled a writer, from what the kernel says of it, in traces written by hand."""

from dataclasses import replace

import pytest
from support.blametraces import Story
from support.runs import MS, write_run_of

from wblab.analysis.runs.run import read_run
from wblab.analysis.why.explain import explain
from wblab.analysis.why.recorded import read_recorded
from wblab.core.rundir import DiskRecord, write_disks
from wblab.core.spec import Cgroup
from wblab.lab.results import SPECS
from wblab.lab.specfile import read_spec
from wblab.report.whyanswer import sentence
from wblab.report.whycause import groups
from wblab.report.whyremedy import remedy
from wblab.report.whytext import sentences

from .conftest import IDLE_NS, MW1
from .test_explain import COMMS, FLUSHER, L1, NAP, NAP_ENDS, THROTTLED, TIMER

L2, PAGE, OTHER = 9, 4096, "98:16"
MACHINE = (10_000, 20_000)  # both thresholds of the machine, in pages: nobody is throttled below 15,000


def throttled(story, counts, *, dirty=30, at_ms=0):
    """Let mw1 be throttled for 1 s by a limit with these counts. dirty: the machine's dirty pages.

    The rate limit that makes the disk slow holds a request for that second: the disk is not idle for it.
    """
    story.dirty_state(at_ms * MS, MW1, dirty, 0, thresholds=MACHINE)
    story.balance(at_ms * MS, MW1, **counts)
    story.switch(at_ms * MS, MW1, 0, stack=THROTTLED)
    story.wake((at_ms + 1000) * MS, 0, MW1, TIMER)
    story.issue((at_ms + 1000) * MS, 1000, 8)
    story.complete((at_ms + 1000) * MS, 1000, 8)
    story.switch((at_ms + 1000) * MS, 0, MW1)
    story.switch((at_ms + 1000) * MS, MW1, 0, stack=NAP)
    story.hand_over((at_ms + 1000) * MS + IDLE_NS, 0, MW1, NAP_ENDS)


def story_with_pages():
    """Return a story in which l1 dirtied 20 pages and mw1 1 of one disk, and l2 40 of another."""
    story = Story(COMMS | {L2: "l2"})
    for page in range(20):
        story.dirty(0, L1, 13, page)
    for page in range(40):
        story.dirty(0, L2, 15, page, bdi=OTHER)
    story.dirty(0, MW1, 14, 0)
    for index, (sector, inode, device) in enumerate(((1000, 13, 98 << 20), (5000, 15, 98 << 20 | 16))):
        story.submit(0, FLUSHER, sector + index, 8, inode=inode, index=0, device=device)
    return story


def told(tmp_path, story, bdi=None, group=()):
    """Return the one cause of mw1's pause, the sentence, and the setting that lifts its limit."""
    base = read_spec(SPECS.find("base"))
    disk = {name: replace(each, bdi=bdi or {}) for name, each in base.disk.items()}
    cgroup = {"box": Cgroup(loads=group, files={"memory.max": 1 << 20})} if group else {}
    spec = replace(base, disk=disk, cgroup=cgroup, load={"mw1": base.load["mw1"]})
    path = write_run_of(spec, tmp_path / "run", {"mw1": [story.start_ns, story.start_ns + 1000 * MS + IDLE_NS]})
    write_disks(path, {name: DiskRecord("98:0", 0) for name in disk})
    (path / "trace.dat").write_bytes(story.encode())
    run = read_run(path)
    (found,) = explain(run, read_recorded(run))
    (group,) = groups([found])
    if found.causes[0].kind == "throttled":
        verb = "stops" if found.causes[0].limit.stops else "slows"
        assert f" because the kernel {verb} every writer" in sentences(found)[1]
    lift = remedy(group)
    return found.causes[0], sentence(group), lift.setting if lift else ""


@pytest.mark.parametrize(("rate", "does"), [(8, "slows"), (0, "stops")])
def test_the_machines_limit_counts_all_dirty_pages(tmp_path, rate, does):
    story = story_with_pages()
    counts = {"limit": 20_000, "setpoint": 17_500, "dirty": 19_000, "share": (8000, 9000), "rates": (rate, 100)}
    throttled(story, counts, dirty=19_000)
    cause, sentence, lift = told(tmp_path, story)
    assert (cause.limit.of, cause.limit.size) == ("machine", 20_000 * PAGE)
    assert cause.dirty == {"l2": 40 * PAGE, "l1": 20 * PAGE, "mw1": PAGE}
    assert f"the kernel {does} every writer when dirty memory is near the limit" in sentence
    assert not lift


@pytest.mark.parametrize("group", [1, 77])
def test_a_writer_that_nothing_else_slows_is_at_its_disks_own_limit(tmp_path, group):
    story = story_with_pages()
    throttled(story, {"limit": 20_000, "setpoint": 17_500, "dirty": 61, "share": (18, 21), "group": group}, dirty=61)
    cause, sentence, _ = told(tmp_path, story)
    assert (cause.limit.of, cause.limit.size) == ("disk", 20 * PAGE)  # 18 * 20,001 / 17,500
    assert cause.dirty == {"l1": 20 * PAGE, "mw1": PAGE}
    assert sentence.startswith(
        "mw1 was stalled once in write(), for 1 s: 84 KiB were waiting to be written to the disk"
    )
    assert "95.2 % of it from l1" in sentence
    assert "near the disk's own limit of 80 KiB" in sentence


@pytest.mark.parametrize(
    ("settings", "rates", "of"),
    [
        ({}, (10, 100), "machine"),
        ({"max_ratio": 1}, (10, 100), "disk"),
        ({"max_ratio": 1}, (90, 100), "machine"),
        ({"max_ratio": 100}, (10, 100), "machine"),
    ],
)
def test_a_disks_share_is_named_where_it_is_set_and_slows_more_than_the_machines_limit(tmp_path, settings, rates, of):
    story = story_with_pages()
    counts = {"limit": 20_000, "setpoint": 17_500, "dirty": 17_500, "share": (18, 21), "rates": rates}
    throttled(story, counts, dirty=17_500)
    cause, _, lift = told(tmp_path, story, settings)
    assert cause.limit.of == of
    assert lift == ("disk.bdi.max_ratio=100" if of == "disk" else "")


def test_a_groups_limit_counts_what_its_tasks_dirtied(tmp_path):
    story = story_with_pages()
    story.dirty_state(0, L1, 61, 0, thresholds=MACHINE)
    story.balance(0, L1, limit=32, setpoint=28, dirty=30, share=(28, 30), group=77)
    story.dirty_state(0, L2, 16_000, 0, thresholds=MACHINE)
    story.balance(0, L2, limit=20_000, setpoint=17_500, dirty=16_000, share=(28, 30), group=1)
    throttled(story, {"limit": 32, "setpoint": 28, "dirty": 30, "share": (28, 30), "group": 77}, dirty=61)
    cause, sentence, lift = told(tmp_path, story, group=("mw1",))
    assert (cause.limit.of, cause.limit.size, cause.limit.group) == ("group", 32 * PAGE, 77)
    assert cause.dirty == {"l1": 20 * PAGE, "mw1": PAGE}
    assert "84 KiB were waiting to be written for the control group *box*, 95.2 % of it from l1" in sentence
    assert "near its limit of 128 KiB, a share of the group's memory" in sentence
    assert lift == "cgroup.box.files.memory.max=max"


def test_who_keeps_the_disk_from_a_group_that_is_at_its_limit_alone_is_named(tmp_path):
    story = story_with_pages()
    throttled(story, {"limit": 32, "setpoint": 28, "dirty": 30, "share": (28, 30), "group": 77}, dirty=61)
    cause, sentence, _ = told(tmp_path, story, group=("mw1",))
    assert (cause.dirty, cause.outside, cause.whose) == ({"mw1": PAGE}, {"l1": PAGE}, "l1")
    assert "near its limit of 128 KiB, a share of the group's memory; meanwhile the disk wrote 4 KiB" in sentence
    assert "of others, 100 % of it from l1." in sentence


def test_a_group_at_the_machines_limit_is_slowed_by_that(tmp_path):
    story = story_with_pages()
    counts = {"limit": 20_000, "setpoint": 17_500, "dirty": 19_000, "share": (8000, 9000), "group": 77}
    throttled(story, counts, dirty=19_000)
    cause, _, _ = told(tmp_path, story)
    assert cause.limit.of == "machine"
    assert cause.dirty["l2"] == 40 * PAGE


def test_reclaim_is_told_as_a_wait_for_memory(tmp_path):
    story = story_with_pages()
    story.switch(
        0, MW1, 0, stack=("__schedule", "schedule_timeout", "reclaim_throttle", "try_charge_memcg", "ksys_write")
    )
    story.wake(1000 * MS, 0, MW1, TIMER)
    story.complete(1000 * MS, 1000, 8)
    story.switch(1000 * MS, 0, MW1)
    story.switch(1000 * MS, MW1, 0, stack=NAP)
    story.hand_over(1000 * MS + IDLE_NS, 0, MW1, NAP_ENDS)
    _, sentence, _ = told(tmp_path, story)
    assert sentence == "mw1 was stalled once in write(), for 1 s: it waited for memory to become free."
