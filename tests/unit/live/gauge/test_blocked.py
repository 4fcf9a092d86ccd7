"""Blocked tasks, from looks at all tasks."""

from wblab.live.gauge.blocked import KIND_NAMES, OF, Blocked, Due
from wblab.live.gauge.catalogue import BLOCKED, BLOCKED_TIME, LONGEST, LOOK_APART
from wblab.live.gauge.counts import Counts
from wblab.machine.tasks import Asleep

S = 10**9
STACKS = {
    1: ["bit_wait_io", "__wait_on_bit", "folio_wait_writeback", "file_write_and_wait_range", "do_fsync"],
    2: ["io_schedule", "blk_mq_get_tag", "wb_workfn", "kthread"],
    3: ["worker_thread", "kthread"],  # without work: waits for nobody
    4: [],
}


def looked(*looks):
    """Return what is not zero after looks a second apart, each of pairs of a task and its sleep."""
    counts = Counts()
    blocked = Blocked(counts, STACKS.__getitem__)
    for second, tasks in enumerate(looks):
        blocked.look((second + 1) * S, [Asleep(tid, sleep, tid in (2, 3)) for tid, sleep in tasks])
    return {metric: {labels: value for labels, value in rows.items() if value} for metric, rows in counts.all().items()}


def test_tasks_are_counted_by_what_they_wait_for_and_whether_they_are_of_the_kernel():
    assert looked([(1, 5), (2, 5), (3, 5), (4, 5)])[BLOCKED] == {
        ("program", "folio under writeback"): 1,
        ("kernel", "request"): 1,
        ("program", "unknown"): 1,
    }


def test_only_a_sleep_that_two_looks_see_adds_time():
    assert looked([(1, 5)])[BLOCKED_TIME] == {}
    assert looked([(1, 5)], [(1, 6)], [(1, 7)])[BLOCKED_TIME] == {}  # a disk's usual work
    found = looked([(1, 5)], [(1, 5)], [(1, 5)])
    assert found[BLOCKED_TIME] == {("program", "folio under writeback"): 2}
    assert found[LONGEST] == {("program",): 2}
    assert found[LOOK_APART] == {(): 1}
    ended = looked([(1, 5)], [(1, 5)], [])
    assert ended[BLOCKED_TIME] == {("program", "folio under writeback"): 1}
    assert (ended[LONGEST], ended[BLOCKED]) == ({}, {})


def test_zeros_are_there_from_the_start():
    counts = Counts()
    Blocked(counts, STACKS.__getitem__)
    assert counts.all()[BLOCKED] == {(of, kind): 0 for of in OF for kind in KIND_NAMES}
    assert {"throttled", "commit", "folio under writeback", "unknown"} <= set(KIND_NAMES)
    assert not {"idle", "sleep"} & set(KIND_NAMES)


def test_looks_that_cost_much_come_rarely():
    due = Due()
    assert due.is_now(0, is_pressed=False)
    due.looked(0, 10**7)
    assert not due.is_now(3 * S, is_pressed=True)
    assert due.is_now(4 * S, is_pressed=True)
    assert not due.is_now(9 * S, is_pressed=False)
    assert due.is_now(10 * S, is_pressed=False)
