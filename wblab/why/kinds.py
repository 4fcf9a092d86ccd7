"""Kinds of wait, as data: which functions a task sleeps in, and in which functions the one is who ends that sleep.

Functions are those of the kernel's stacks, of all series that the lab knows. A kind is known where both stacks say it,
that of the sleep and that of the wake-up: two witnesses.
"""

from dataclasses import dataclass
from typing import Literal

# What a wait ends with: a request that a disk was done with, a timer, another task; or whatever the wake-up says.
Nature = Literal["waits", "own will"]


@dataclass(frozen=True)
class Kind:
    """A kind of wait.

    what: in words, after "waited". sleeps: any of these is in the stack of the sleep. wakes: any of these is in the
    stack of the wake-up, in its context: below an interrupt lies whoever happened to run. besides: what must be in the
    stack of the sleep too.
    """

    name: str
    what: str
    sleeps: tuple[str, ...]
    wakes: tuple[str, ...]
    besides: tuple[str, ...] = ()
    nature: Nature = "waits"


TIMER = ("process_timeout", "call_timer_fn", "run_timer_softirq", "__run_timers")
_BIT = ("wake_up_bit", "__wake_up_bit", "wake_bit_function", "var_wake_function")
_FOLIO = ("wake_page_function", "folio_wake_bit", "folio_end_writeback", "folio_unlock", "__folio_end_writeback")
_QUEUE = ("autoremove_wake_function", "__wake_up_common", "__wake_up_common_lock", "__wake_up", "default_wake_function")
_DONE = ("complete", "complete_all", "swake_up_locked", "complete_with_flags")
_MUTEX = ("__mutex_unlock_slowpath", "mutex_unlock", "wake_up_q")
_SEMAPHORE = ("rwsem_wake", "up_write", "up_read", "wake_up_q", "rwsem_mark_wake")
_SIGNAL = ("signal_wake_up_state", "complete_signal", "send_signal_locked")

# The first that fits is meant: what says more stands before what says less.
KINDS = (
    Kind("throttled", "as the kernel holds back who writes near the dirty limit", ("balance_dirty_pages",), TIMER),
    Kind(
        "journal writes block",
        "to change a block that the journal was writing",
        ("do_get_write_access",),
        ("journal_end_buffer_io_sync",),
        ("out_of_line_wait_on_bit",),
    ),
    Kind(
        "transaction locked",
        "for a new transaction, as the old one was being closed",
        ("wait_transaction_locked",),
        _QUEUE,
    ),
    Kind("transaction switching", "for the journal to begin a transaction", ("wait_transaction_switching",), _QUEUE),
    Kind(
        "open handles", "for tasks to end what they had begun in a transaction", ("jbd2_journal_wait_updates",), _QUEUE
    ),
    Kind(
        "journal full",
        "for room in the journal",
        ("__jbd2_log_wait_for_space", "jbd2_log_do_checkpoint"),
        (*_QUEUE, *_BIT, *_MUTEX, *_DONE),
    ),
    Kind("commit", "for the journal to end a commit", ("jbd2_log_wait_commit",), _QUEUE),
    Kind(
        "write-back throttling",
        "for a place in the disk's queue, as write-back throttling rations them",
        ("rq_qos_wait", "wbt_wait"),
        ("rq_qos_wake_function", "wbt_rqw_done", *_QUEUE),
    ),
    Kind(
        "request",
        "for a free request of the disk's queue",
        ("blk_mq_get_tag",),
        (
            "sbitmap_queue_wake_up",
            "blk_mq_put_tag",
            "blk_mq_free_request",
            "sbitmap_queue_clear",
            "blk_mq_end_request",
            "sbitmap_queue_wake_all",
        ),
    ),
    Kind(
        "folio under writeback",
        "for a page that was being written",
        ("folio_wait_writeback", "folio_wait_stable", "__filemap_fdatawait_range"),
        _FOLIO,
    ),
    Kind(
        "inode under writeback",
        "for a file whose inode was being written",
        ("inode_wait_for_writeback", "__inode_wait_for_writeback", "inode_sleep_on_writeback"),
        (*_BIT, "inode_sync_complete", *_QUEUE),
    ),
    Kind("flusher", "for the flusher to write all that was dirty", ("wb_wait_for_completion",), _QUEUE),
    Kind(
        "folio locked",
        "for a page that was locked",
        ("__folio_lock", "folio_wait_bit_common", "__folio_lock_killable"),
        _FOLIO,
    ),
    Kind(
        "buffer",
        "for a block that was being read or written",
        ("__wait_on_buffer", "__lock_buffer"),
        (*_BIT, "unlock_buffer"),
    ),
    Kind(
        "buffer",
        "for a block that was being read or written",
        ("out_of_line_wait_on_bit_lock", "out_of_line_wait_on_bit"),
        (
            "end_buffer_write_sync",
            "end_buffer_read_sync",
            "bh_end_write",
            "bh_end_read",
            "end_buffer_async_write",
            "bh_end_async_write",
            "end_bio_bh_io_sync",
            "bio_endio_bh",
            "journal_end_buffer_io_sync",
            "__end_buffer_read_notouch",
            "unlock_buffer",
            "blk_update_request",
            "ubd_model_done",
        ),
        ("bit_wait_io",),
    ),
    Kind(
        "log space",
        "for room in the log of XFS",
        ("xlog_grant_head_wait", "xlog_grant_head_check"),
        ("xlog_grant_head_wake", "xlog_grant_head_wake_all", *_QUEUE, "xlog_ticket_reservation"),
    ),
    Kind(
        "log write",
        "for XFS to write its log",
        (
            "xlog_wait_on_iclog",
            "xlog_force_lsn",
            "xfs_log_force",
            "xfs_log_force_seq",
            "xlog_cil_force_seq",
            "xlog_cil_push_now",
        ),
        (*_QUEUE, *_DONE),
    ),
    Kind("log buffer", "for a free buffer of the log of XFS", ("xlog_state_get_iclog_space",), _QUEUE),
    Kind(
        "pinned inode",
        "for an inode that XFS keeps as it is until its log is written",
        ("xfs_iunpin_wait", "__xfs_iunpin_wait"),
        _BIT,
    ),
    Kind(
        "XFS block locked",
        "for a block that XFS had locked",
        ("xfs_buf_lock",),
        ("up", "__up", "xfs_buf_unlock", "wake_up_q"),
    ),
    Kind("XFS block", "for XFS to read or write a block", ("xfs_buf_iowait",), _DONE),
    Kind(
        "flush",
        "for the disk to have for good what it was done with",
        ("blkdev_issue_flush",),
        ("submit_bio_wait_endio", "bio_wait_end_io", "blk_update_request", *_DONE),
    ),
    Kind(
        "direct write",
        "for a disk to do what was asked of it directly",
        (
            "submit_bio_wait",
            "__iomap_dio_rw",
            "iomap_dio_rw",
            "__blkdev_direct_IO_simple",
            "blk_wait_io",
        ),
        (
            "submit_bio_wait_endio",
            "bio_wait_end_io",
            "blkdev_bio_end_io_simple",
            "iomap_dio_bio_end_io",
            "blk_update_request",
            *_DONE,
        ),
    ),
    Kind(
        "reclaim",
        "for memory to become free",
        (
            "reclaim_throttle",
            "throttle_direct_reclaim",
            "mem_cgroup_handle_over_high",
            "__mem_cgroup_handle_over_high",
            "balance_pgdat",
            "congestion_wait",
        ),
        (*TIMER, *_QUEUE),
    ),
    Kind(
        "lock",
        "for a lock that another task held",
        ("__mutex_lock", "mutex_lock", "__mutex_lock_slowpath", "mutex_lock_io"),
        _MUTEX,
    ),
    Kind(
        "lock",
        "for a lock that another task held",
        ("rwsem_down_read_slowpath", "rwsem_down_write_slowpath", "down_read", "down_write"),
        _SEMAPHORE,
    ),
    Kind(
        "file lock",
        "for a lock on a file (flock, fcntl) that another task held",
        ("flock_lock_inode_wait", "posix_lock_inode_wait", "locks_lock_inode_wait", "do_lock_file_wait"),
        (*_QUEUE, "locks_wake_up_waiter", "__locks_wake_up_blocks"),
    ),
    Kind(
        "sleep",
        "as it meant to sleep",
        ("do_nanosleep", "hrtimer_nanosleep"),
        ("hrtimer_wakeup", *_SIGNAL),
        nature="own will",
    ),
    Kind("ended", "no more, as it had ended", ("do_task_dead",), (), nature="own will"),
    Kind(
        "idle",
        "for work",
        ("kjournald2", "worker_thread", "xfsaild", "kswapd", "smpboot_thread_fn", "rescuer_thread"),
        (*_QUEUE, *TIMER, "kick_pool", "wake_up_process", "insert_work", "__queue_work"),
        nature="own will",
    ),
    Kind(
        "task",
        "for another task of its own",
        (
            "do_wait",
            "futex_wait_queue",
            "__futex_wait",
            "pipe_read",
            "anon_pipe_read",
            "do_sigtimedwait",
            "sys_rt_sigtimedwait",
            "unix_stream_read_generic",
            "eventfd_read",
            "ep_poll",
            "do_poll",
            "do_sys_poll",
            "do_select",
            "io_cqring_wait",
            "read_events",
        ),
        (
            *_QUEUE,
            "child_wait_callback",
            "wake_up_q",
            "futex_wake",
            "signal_wake_up_state",
            "hrtimer_wakeup",
            "pollwake",
            "complete_signal",
            "ep_poll_callback",
            "schedule_timeout",
            *TIMER,
        ),
    ),
)
# What two stacks do not say.
UNKNOWN = Kind("unknown", "for something unknown", (), ())
