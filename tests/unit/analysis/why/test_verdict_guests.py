"""Classification by two stacks that kernels recorded in runs of one kind of wait each (Linux 6.18 and 7.x)."""

import pytest

from wblab.analysis.why.verdict import judged

IRQ = ("__handle_irq_event_percpu", "do_IRQ", "time_travel_sleep", "do_idle")
DONE = ("blk_update_request", "blk_mq_end_request", "ubd_model_done", "__hrtimer_run_queues", *IRQ)
WAITS = {
    ("flusher", "task"): (
        ("wb_wait_for_completion", "sync_inodes_sb", "sync_filesystem", "sys_syncfs"),
        ("autoremove_wake_function", "__wake_up_common", "__wake_up", "wb_workfn", "process_one_work", "worker_thread"),
    ),
    ("journal full", "request"): (
        ("submit_bio_wait", "blkdev_issue_flush", "jbd2_cleanup_journal_tail", "jbd2_log_do_checkpoint"),
        ("complete_with_flags", *DONE),
    ),
    ("flush", "request"): (
        ("submit_bio_wait", "blkdev_issue_flush", "ext4_sync_file", "sys_fdatasync"),
        ("complete_with_flags", *DONE),
    ),
    ("file lock", "task"): (
        ("locks_lock_inode_wait", "sys_flock"),
        ("__wake_up_common", "__wake_up", "__locks_wake_up_blocks", "flock_lock_inode", "locks_remove_file", "__fput"),
    ),
    ("write-back throttling", "request"): (
        ("rq_qos_wait", "wbt_wait", "__rq_qos_throttle", "blk_mq_submit_bio"),
        (
            "rq_qos_wake_function",
            "__wake_up",
            "wbt_done",
            "__rq_qos_done",
            "blk_mq_free_request",
            "ubd_model_done",
            *IRQ,
        ),
    ),
}


@pytest.mark.parametrize(("kind", "context"), WAITS)
def test_a_wait_is_classified_by_both_stacks(kind, context):
    sleep, wake = (("try_to_wake_up", *stack) for stack in WAITS[kind, context])
    found = judged(("__schedule", "schedule", *sleep), wake)
    assert (found.kind.name, found.context) == (kind, context)
    assert judged(("__schedule", "schedule", *sleep), ("try_to_wake_up", "something_else")).kind.name == "unknown"
