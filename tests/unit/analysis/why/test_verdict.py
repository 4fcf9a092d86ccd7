"""Stacks as kernels of machines record them; most of these are from Linux 6.18 on x86-64."""

import pytest

from wblab.analysis.why.classify import judged
from wblab.analysis.why.kinds import KINDS

OUT = ("trace_event_raw_event_sched_switch", "__traceiter_sched_switch", "__schedule", "schedule")
WOKE = ("trace_event_raw_event_sched_wakeup_template", "try_to_wake_up")
CALL = ("do_syscall_64", "entry_SYSCALL_64_after_hwframe")
FSYNC = (
    "generic_buffers_fsync_noflush",
    "ext4_fsync_nojournal",
    "ext4_sync_file",
    "do_fsync",
    "__x64_sys_fsync",
    *CALL,
)
KTHREAD = ("process_one_work", "worker_thread", "kthread", "ret_from_fork", "ret_from_fork_asm")
# The interrupted task was in a system call.
SOFTIRQ = ("blk_done_softirq", "handle_softirqs", "__irq_exit_rcu", "common_interrupt", "asm_common_interrupt", *CALL)
DONE = ("blk_update_request", "blk_mq_end_request", *SOFTIRQ)
TICK = ("run_timer_softirq", "handle_softirqs", "__irq_exit_rcu", "sysvec_apic_timer_interrupt")

PAGE = (*OUT, "io_schedule", "folio_wait_bit", "folio_wait_writeback", "__filemap_fdatawait_range", *FSYNC)
PAGE_ENDS = (
    *WOKE,
    "wake_page_function",
    "__wake_up_common",
    "folio_wake_bit",
    "folio_end_writeback",
    "ext4_finish_bio",
)
BUFFER = (*OUT, "io_schedule", "bit_wait_io", "__wait_on_bit", "out_of_line_wait_on_bit", "__sync_dirty_buffer", *FSYNC)
BUFFER_ENDS = (*WOKE, "wake_bit_function", "__wake_up_common", "wake_up_bit", "end_buffer_write_sync")
FLUSH = (*OUT, "schedule_timeout", "io_schedule_timeout", "wait_for_completion_io_timeout", "submit_bio_wait")
WBT = (*OUT, "io_schedule", "rq_qos_wait", "wbt_wait", "__rq_qos_throttle", "blk_mq_submit_bio", "ext4_writepages")
WBT_ENDS = (*WOKE, "rq_qos_wake_function", "__wake_up_common", "__wake_up")
RWSEM = (*OUT, "schedule_preempt_disabled", "rwsem_down_write_slowpath", "down_write", "ext4_map_blocks", *KTHREAD)
BTRFS_BLOCK = ("btrfs_btree_wait_writeback_range", "__btrfs_wait_marked_extents")
BTRFS_COMMIT = ("btrfs_write_and_wait_transaction", "btrfs_commit_transaction", "transaction_kthread", "kthread")
SYNCFS = (*OUT, "wb_wait_for_completion", "sync_inodes_sb", "sync_filesystem", "__x64_sys_syncfs", *CALL)


@pytest.mark.parametrize(
    ("sleep", "wake", "kind", "context"),
    [
        (PAGE, (*PAGE_ENDS, "ext4_end_bio", *DONE), "folio under writeback", "request"),
        (PAGE, (*PAGE_ENDS, "ext4_release_io_end", "ext4_end_io_rsv_work", *KTHREAD), "folio under writeback", "task"),
        (BUFFER, (*BUFFER_ENDS, "end_bio_bh_io_sync", *DONE), "buffer", "request"),
        ((*FLUSH, "blkdev_issue_flush", "ext4_sync_file", *CALL), (*WOKE, "complete", *DONE), "flush", "request"),
        ((*FLUSH, "blkdev_issue_discard", *CALL), (*WOKE, "complete", *DONE), "direct write", "request"),
        ((*OUT, "__iomap_dio_rw", "vfs_read", *CALL), (*WOKE, "iomap_dio_bio_end_io", *DONE), "direct read", "request"),
        (WBT, (*WBT_ENDS, "wbt_done", "blk_mq_free_request", *SOFTIRQ), "write-back throttling", "request"),
        (WBT, (*WBT_ENDS, "wb_timer_fn", "call_timer_fn", "__run_timers", *TICK), "write-back throttling", "timer"),
        (RWSEM, (*WOKE, "wake_up_q", "rwsem_wake", "up_write", "ext4_map_blocks", *FSYNC), "lock", "task"),
        (SYNCFS, (*WOKE, "__wake_up_common", "__wake_up", "wb_workfn", *KTHREAD), "flusher", "task"),
        (  # btrfs on a guest's kernel, 7.2
            (*OUT, "bit_wait_io", "__wait_on_bit", "out_of_line_wait_on_bit", *BTRFS_BLOCK, *BTRFS_COMMIT),
            (*WOKE, "wake_bit_function", "wake_up_bit", "end_bbio_meta_write", "orig_write_end_io_work", *KTHREAD),
            "btrfs block",
            "task",
        ),
        (
            (*OUT, "schedule_timeout", "io_schedule_timeout", "__wait_for_common", "write_all_supers", *BTRFS_COMMIT),
            (*WOKE, "complete_with_flags", "blk_update_request", "blk_flush_complete_seq", "flush_end_io", *DONE),
            "flush",
            "request",
        ),
        # The following are derived from the sources of Linux 5.4 to 7.3.
        (
            (*OUT, "io_schedule", "wait_on_page_bit_common", "wait_on_page_writeback", *FSYNC),
            (*WOKE, "wake_up_page_bit", "end_page_writeback", *DONE),
            "folio under writeback",
            "request",
        ),
        (
            (*OUT, "wait_current_trans", "start_transaction", "btrfs_create_common", "__x64_sys_openat", *CALL),
            (*WOKE, "autoremove_wake_function", "__wake_up", "btrfs_commit_transaction", "transaction_kthread"),
            "btrfs transaction",
            "task",
        ),
        (
            (*OUT, "wait_barrier", "raid1_write_request", "md_handle_request", *FSYNC),
            (*WOKE, "autoremove_wake_function", "__wake_up", "lower_barrier", "md_thread", "kthread"),
            "array",
            "task",
        ),
        (
            (*OUT, "io_schedule", "ioc_rqos_throttle", "__rq_qos_throttle", "blk_mq_submit_bio", *FSYNC),
            (*WOKE, "iocg_wake_fn", "__wake_up_common", "iocg_kick_waitq", "hrtimer_interrupt", *TICK[-1:]),
            "group throttled",
            "interrupt",
        ),
        (
            (*OUT, "percpu_rwsem_wait", "__percpu_down_read", "mnt_want_write", "__x64_sys_openat", *CALL),
            (*WOKE, "percpu_rwsem_wake_function", "__wake_up", "percpu_up_write", "thaw_super_locked", *CALL),
            "frozen",
            "task",
        ),
        (
            (*OUT, "percpu_rwsem_wait", "__percpu_down_read", "cgroup_threadgroup_change_begin", *CALL),
            (*WOKE, "percpu_rwsem_wake_function", "__wake_up", "percpu_up_write", "cgroup_procs_write", *CALL),
            "lock",
            "task",
        ),
    ],
)
def test_a_wait_of_a_live_machine_is_classified(sleep, wake, kind, context):
    verdict = judged(sleep, wake)
    assert (verdict.kind.name, verdict.context) == (kind, context)


@pytest.mark.parametrize(
    "entry",
    [
        "asm_sysvec_call_function_single",
        "sysvec_apic_timer_interrupt",
        "common_interrupt",
        "el1_interrupt",
        "__do_softirq",
    ],
)
def test_functions_below_an_interrupt_are_no_evidence(entry):
    assert judged(RWSEM, (*WOKE, entry, "wake_up_q", "rwsem_wake", "up_write")).kind.name == "unknown"


def test_a_page_fault_of_the_waker_is_evidence():
    wake = (*WOKE, "wake_up_q", "rwsem_wake", "up_read", "do_user_addr_fault", "exc_page_fault", "asm_exc_page_fault")
    assert judged(RWSEM, wake).context == "task"


def test_kinds_with_the_same_name_have_the_same_description():
    said = {kind.name: kind.what for kind in KINDS}
    assert all(said[kind.name] == kind.what for kind in KINDS)
    assert all(kind.wakes for kind in KINDS if kind.nature == "waits")


def test_opening_a_fifo_waits_for_the_task_at_the_other_end():
    sleep = (*OUT, "wait_for_partner", "fifo_open", "do_dentry_open", "vfs_open", *CALL)
    wake = (*WOKE, "autoremove_wake_function", "__wake_up_common", "__wake_up", "fifo_open", *CALL)
    said = judged(sleep, wake)
    assert (said.kind.name, said.context) == ("task", "task")


IRQ = ("__handle_irq_event_percpu", "do_IRQ", "time_travel_sleep", "do_idle")
COMPLETED = ("blk_update_request", "blk_mq_end_request", "ubd_model_done", "__hrtimer_run_queues", *IRQ)
WAITS = {
    ("flusher", "task"): (
        ("wb_wait_for_completion", "sync_inodes_sb", "sync_filesystem", "sys_syncfs"),
        ("autoremove_wake_function", "__wake_up_common", "__wake_up", "wb_workfn", "process_one_work", "worker_thread"),
    ),
    ("journal full", "request"): (
        ("submit_bio_wait", "blkdev_issue_flush", "jbd2_cleanup_journal_tail", "jbd2_log_do_checkpoint"),
        ("complete_with_flags", *COMPLETED),
    ),
    ("flush", "request"): (
        ("submit_bio_wait", "blkdev_issue_flush", "ext4_sync_file", "sys_fdatasync"),
        ("complete_with_flags", *COMPLETED),
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
