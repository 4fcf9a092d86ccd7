"""Kinds of wait, as data: the kernel functions in which a task sleeps, and those in which it is woken.

Functions are named as in the stacks of all kernel series that the lab knows. A kind counts as known only if the
evidence agrees: the stack of the sleeper and the stack of the waker.
"""

from dataclasses import dataclass
from typing import Literal

# waits: for something. own will: it meant to sleep. idle: a kernel thread without work. stopped: by a signal, debugger
# or a freezer; the task that resumes it did not hold it.
Nature = Literal["waits", "own will", "idle", "stopped"]


@dataclass(frozen=True)
class Kind:
    """A kind of wait.

    what: in words, after "waited". sleeps: the sleeper's stack has at least one of these. wakes: the waker's stack has
    at least one of these, above any interrupt: below it is the task that happened to run. besides: the sleeper's stack
    must have one of these too. by_itself: a timer of its own ends such a sleep, so it is known by the sleeper's stack
    alone where the kernel has none of the waker: some have no stack of an interrupt of an idle processor.
    """

    name: str
    what: str
    sleeps: tuple[str, ...]
    wakes: tuple[str, ...]
    besides: tuple[str, ...] = ()
    nature: Nature = "waits"
    by_itself: bool = False


TIMER = ("process_timeout", "call_timer_fn", "run_timer_softirq", "__run_timers")
_BIT = ("wake_up_bit", "__wake_up_bit", "wake_bit_function", "var_wake_function")
_FOLIO = (
    *("wake_page_function", "folio_wake_bit", "folio_end_writeback", "folio_unlock", "__folio_end_writeback"),
    *("wake_up_page_bit", "end_page_writeback", "unlock_page"),  # before 5.16
    "blk_update_request",
)
_QUEUE = ("autoremove_wake_function", "__wake_up_common", "__wake_up_common_lock", "__wake_up", "default_wake_function")
_DONE = ("complete", "complete_all", "swake_up_locked", "complete_with_flags")
_MUTEX = ("__mutex_unlock_slowpath", "mutex_unlock", "wake_up_q")
_SEMAPHORE = ("rwsem_wake", "up_write", "up_read", "wake_up_q", "rwsem_mark_wake")
_SIGNAL = ("signal_wake_up_state", "complete_signal", "send_signal_locked")

# Direct I/O is a write unless the sleeper's stack has one of DIRECT_READS.
_DIRECT = (
    "submit_bio_wait",
    "dio_await_one",
    "__blockdev_direct_IO",
    "__iomap_dio_rw",
    "iomap_dio_rw",
    "__blkdev_direct_IO_simple",
    "blk_wait_io",
)
_DIRECT_ENDS = (
    "submit_bio_wait_endio",
    "bio_wait_end_io",
    "blkdev_bio_end_io_simple",
    "iomap_dio_bio_end_io",
    "iomap_dio_done",
    "dio_bio_end_io",
    "blk_update_request",
    *_DONE,
)
DIRECT_READS = (
    *("vfs_read", "vfs_readv", "do_iter_read", "aio_read", "io_read", "vfs_iter_read"),
    *("generic_file_read_iter", "generic_file_aio_read", "blkdev_read_iter", "ext4_file_read_iter"),
    *("ext4_dio_read_iter", "xfs_file_read_iter", "xfs_file_dio_read", "xfs_file_dio_aio_read"),
    *("btrfs_file_read_iter", "btrfs_direct_read", "f2fs_file_read_iter", "f2fs_dio_read_iter"),
)

# The first entry that fits the sleeper says what the wait may be: specific kinds precede general ones. Of that kind's
# entries, and of others that sleep in the same function, the first that fits the waker is what it was.
KINDS = (
    Kind(
        "throttled",
        "because the kernel slows every writer when dirty memory is near the limit",
        ("balance_dirty_pages",),
        TIMER,
        by_itself=True,
    ),
    Kind(
        "journal writes block",
        "to change a block that the journal was writing",
        ("do_get_write_access",),
        ("journal_end_buffer_io_sync", "blk_update_request"),
        ("out_of_line_wait_on_bit",),
    ),
    Kind(
        "transaction locked",
        "for the journal to close the running transaction",
        ("wait_transaction_locked",),
        _QUEUE,
    ),
    Kind("transaction switching", "for the journal to begin a transaction", ("wait_transaction_switching",), _QUEUE),
    Kind(
        "open handles", "for other tasks to finish their part of a transaction", ("jbd2_journal_wait_updates",), _QUEUE
    ),
    Kind(
        "journal full",
        "for room in the journal",
        ("__jbd2_log_wait_for_space", "jbd2_log_do_checkpoint"),
        (*_QUEUE, *_BIT, *_MUTEX, *_DONE),
    ),
    Kind(
        "transaction full",
        "for room in the running transaction",
        ("add_transaction_credits",),
        ("sub_reserved_credits", "jbd2_journal_free_reserved", *_QUEUE),
    ),
    Kind(
        "fast commit",
        "for a fast commit of ext4 to end",
        ("ext4_fc_wait_committing_inode", "jbd2_fc_begin_commit", "ext4_fc_track_inode", "ext4_fc_del"),
        (*_BIT, *_QUEUE),
    ),
    Kind("commit", "for the journal to end a commit", ("jbd2_log_wait_commit",), _QUEUE),
    Kind(
        "swap-out",
        "to write memory of programs to swap, so that some becomes free",
        (
            *("blk_mq_get_tag", "rq_qos_wait", "wbt_wait", "submit_bio_wait", "blk_wait_io"),
            *("mempool_alloc", "mempool_alloc_noprof"),
        ),
        (
            *("sbitmap_queue_wake_up", "blk_mq_put_tag", "blk_mq_free_request", "blk_mq_end_request"),
            *("sbitmap_queue_clear", "sbitmap_queue_wake_all", "rq_qos_wake_function", "wbt_rqw_done"),
            *("submit_bio_wait_endio", "bio_wait_end_io", "blk_update_request", "mempool_free"),
            *(*_QUEUE, *_DONE, *TIMER),
        ),
        (
            *("swap_writeout", "__swap_writepage", "swap_writepage"),
            *("swap_writepage_bdev_async", "swap_writepage_bdev_sync"),
        ),
    ),
    Kind(
        "swap-in",
        "for a page of its memory to be read back from swap",
        (
            *("folio_wait_bit_common", "__folio_lock", "__folio_lock_or_retry", "folio_wait_bit"),
            *("__lock_page", "__lock_page_or_retry", "wait_on_page_bit_common", "submit_bio_wait"),  # before 5.16
            *("blk_mq_get_tag", "rq_qos_wait", "wbt_wait", "blk_wait_io"),
        ),
        (
            *(*_FOLIO, "end_swap_bio_read", "submit_bio_wait_endio", "bio_wait_end_io", *_DONE),
            *("sbitmap_queue_wake_up", "blk_mq_put_tag", "blk_mq_free_request", "rq_qos_wake_function"),
        ),
        ("do_swap_page", "swap_read_folio", "swap_readpage", "swapin_readahead", "shmem_swapin_folio", "swapin_sync"),
    ),
    Kind(
        "write-back throttling",
        "because write-back throttling (WBT) limits the writes in the disk's queue",
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
        "queue frozen",
        "because a disk's queue was frozen to be reconfigured",
        ("__bio_queue_enter", "blk_queue_enter", "blk_mq_freeze_queue_wait"),
        _QUEUE,
    ),
    Kind(
        "group throttled",
        "because its control group had used up its share of the disk",
        ("ioc_rqos_throttle", "blkcg_maybe_throttle_current", "__blkcg_iolatency_throttle"),
        ("iocg_wake_fn", "iocg_kick_waitq", "hrtimer_wakeup", *_QUEUE),
    ),
    Kind(
        "array",
        "for an array of disks (md) to accept its I/O",
        (
            *("wait_barrier", "_wait_barrier", "wait_read_barrier", "raise_barrier", "md_write_start"),
            *("md_flush_request", "raid5_get_active_stripe", "raid5_make_request"),
        ),
        _QUEUE,
    ),
    Kind(
        "folio under writeback",
        "for a page under writeback",
        (
            *("folio_wait_writeback", "folio_wait_stable", "__filemap_fdatawait_range"),
            *("wait_on_page_writeback", "wait_for_stable_page"),  # before 5.16
        ),
        _FOLIO,
    ),
    Kind(
        "inode under writeback",
        "for a file whose inode was under writeback",
        ("inode_wait_for_writeback", "__inode_wait_for_writeback", "inode_sleep_on_writeback"),
        (*_BIT, "inode_sync_complete", *_QUEUE),
    ),
    Kind(
        "flusher",
        "for the flusher to write the data that it had asked it to write",
        ("wb_wait_for_completion",),
        ("finish_writeback_work", *_QUEUE),
    ),
    Kind(
        "folio locked",
        "for a page that was locked",
        (
            *("__folio_lock", "folio_wait_bit_common", "__folio_lock_killable"),
            *("__lock_page", "__lock_page_killable", "wait_on_page_bit_common"),  # before 5.16
        ),
        _FOLIO,
    ),
    Kind(
        "btrfs block",
        "for btrfs to write a block of its trees",
        ("btrfs_btree_wait_writeback_range", "__btrfs_wait_marked_extents"),
        (*_BIT, "end_bbio_meta_write"),
        ("out_of_line_wait_on_bit",),
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
        "for an inode that XFS pins until its log is written",
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
        "busy extent",
        "for space that XFS frees only after its log is written",
        ("xfs_extent_busy_flush", "xfs_extent_busy_wait_all"),
        _QUEUE,
    ),
    Kind(
        "flush",
        "for the disk to flush its write cache",
        ("write_all_supers",),  # wait_dev_flush() is inlined there
        ("flush_end_io", "blk_flush_complete_seq"),
        ("__wait_for_common",),
    ),
    Kind(
        "btrfs transaction",
        "for a transaction of btrfs to be committed",
        ("wait_current_trans", "wait_for_commit", "btrfs_commit_transaction", "wait_log_commit", "wait_for_writer"),
        _QUEUE,
    ),
    Kind(
        "btrfs space",
        "for btrfs to make room",
        (
            *("handle_reserve_ticket", "wait_reserve_ticket", "reserve_bytes", "__reserve_bytes"),
            *("btrfs_async_run_delayed_root", "btrfs_balance_delayed_items"),
        ),
        (*_QUEUE, "btrfs_try_granting_tickets"),
    ),
    Kind(
        "btrfs extent",
        "for btrfs to write an extent",
        (
            *("btrfs_start_ordered_extent", "btrfs_start_ordered_extent_nowriteback", "btrfs_wait_ordered_extents"),
            *("btrfs_wait_ordered_range", "btrfs_lock_extent_bits", "lock_extent", "wait_extent_bit"),
        ),
        (*_QUEUE, *_DONE),
    ),
    Kind("checkpoint", "for a checkpoint of F2FS", ("f2fs_issue_checkpoint", "f2fs_wait_on_all_pages"), _QUEUE),
    Kind("checkpoint", "for a checkpoint of F2FS", ("f2fs_issue_checkpoint",), _DONE),
    Kind(
        "flush",
        "for the disk to flush its write cache",
        ("blkdev_issue_flush", "f2fs_issue_flush", "write_dev_flush", "wait_dev_flush"),
        ("submit_bio_wait_endio", "bio_wait_end_io", "blk_update_request", *_DONE),
    ),
    Kind("direct read", "for a disk to complete a direct read", _DIRECT, _DIRECT_ENDS, DIRECT_READS),
    Kind("direct write", "for a disk to complete direct I/O", _DIRECT, _DIRECT_ENDS),
    Kind(
        "direct writes of others",
        "for direct I/O on a file to end",
        ("inode_dio_wait", "__inode_dio_wait"),
        (*_BIT, "inode_dio_end", *_QUEUE),
    ),
    Kind(
        "served",
        "for the program or server behind its filesystem (FUSE, NFS)",
        ("request_wait_answer", "rpc_wait_bit_killable", "nfs_wait_bit_killable"),
        (*_BIT, *_QUEUE, "fuse_request_end", "rpc_complete_task"),
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
        "pool",
        "for memory from a driver's reserve",
        ("mempool_alloc", "mempool_alloc_noprof"),
        ("mempool_free", *_QUEUE, *TIMER),
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
        (
            *("flock_lock_inode_wait", "posix_lock_inode_wait", "locks_lock_inode_wait", "do_lock_file_wait"),
            *("fcntl_setlk", "fcntl_setlk64", "__do_sys_flock"),
        ),
        (*_QUEUE, "locks_wake_up_waiter", "__locks_wake_up_blocks"),
    ),
    Kind(
        "frozen",
        "because its filesystem was frozen (fsfreeze)",
        ("percpu_rwsem_wait", "__percpu_down_read"),
        ("thaw_super_locked", "thaw_super"),
        nature="stopped",
    ),
    Kind(
        "lock",
        "for a lock that another task held",
        ("percpu_rwsem_wait", "percpu_down_write", "__percpu_down_read"),
        ("percpu_rwsem_wake_function", "percpu_up_write", "__percpu_up_read", "rcuwait_wake_up", *_QUEUE),
    ),
    Kind(
        "lock",
        "for a lock that another task held",
        ("rt_mutex_slowlock", "__rt_mutex_slowlock_locked", "rtlock_slowlock_locked", "rwbase_write_lock"),
        ("rt_mutex_slowunlock", "rt_mutex_wake_up_q", "wake_up_q", "rwbase_read_unlock"),
    ),
    Kind("lock", "for a lock that another task held", ("__down", "__down_common"), ("__up", "up", "wake_up_q")),
    Kind(
        "work",
        "for work that it had queued for kernel threads",
        ("__flush_work", "__flush_workqueue", "flush_workqueue", "kthread_flush_work"),
        ("wq_barrier_func", "kthread_flush_work_fn", *_DONE),
    ),
    Kind(
        "grace period",
        "for an RCU grace period to end",
        ("__wait_rcu_gp", "synchronize_rcu", "synchronize_rcu_normal", "__synchronize_srcu", "rcu_barrier"),
        ("wakeme_after_rcu", "rcu_sr_normal_complete", "rcu_barrier_callback", *_DONE),
    ),
    Kind(
        "stopped",
        "because it was stopped by a signal, a debugger or a freezer",
        ("do_signal_stop", "ptrace_stop", "do_freezer_trap", "__refrigerator", "get_signal"),
        (
            *("prepare_signal", "wake_up_state", "signal_wake_up_state", "ptrace_resume", "__thaw_task", *_SIGNAL),
            *("cgroup_freeze_task", "cgroup_do_freeze", "cgroup_freeze", "cgroup_freeze_write"),
        ),
        nature="stopped",
    ),
    Kind(
        "sleep",
        "because it meant to sleep",
        ("do_nanosleep", "hrtimer_nanosleep"),
        ("hrtimer_wakeup", *_SIGNAL),
        nature="own will",
        by_itself=True,
    ),
    Kind("ended", "no longer: it had ended", ("do_task_dead",), (), nature="own will"),
    Kind(
        "idle",
        "for work",
        (
            *("kjournald2", "worker_thread", "xfsaild", "kswapd", "smpboot_thread_fn", "rescuer_thread"),
            *("kthread_worker_fn", "irq_thread", "md_thread", "transaction_kthread", "cleaner_kthread"),
            *("io_wq_worker", "io_sq_thread", "dmcrypt_write", "rcu_gp_kthread", "kcompactd", "khugepaged"),
        ),
        (
            *(*_QUEUE, *TIMER, "kick_pool", "wake_up_process", "insert_work", "__queue_work"),
            *("__irq_wake_thread", "md_wakeup_thread", "kthread_insert_work", "io_wq_enqueue", "swake_up_one"),
            *("swake_up_locked", "wakeup_softirqd", "wakeup_kswapd"),
        ),
        nature="idle",
    ),
    Kind(
        "io_uring",
        "for io_uring to complete its requests",
        (
            "io_cqring_wait",
            "io_cqring_schedule",
            "__io_cqring_wait_schedule",
            "io_wq_put_and_exit",
            "io_uring_cancel_generic",
        ),
        (
            *_QUEUE,
            *("io_req_task_work_add", "__io_req_task_work_add", "io_req_normal_work_add", "io_req_local_work_add"),
            *("io_cqring_timer_wakeup", "io_cqring_wake", "blk_update_request", "hrtimer_wakeup", "task_work_add"),
        ),
    ),
    Kind(
        "task",
        "for another task, such as a child or a thread",
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
            "read_events",
            *("pipe_write", "anon_pipe_write", "futex_do_wait", "do_epoll_wait", "sigsuspend", "wait_woken"),
            *("__skb_wait_for_more_packets", "inet_csk_accept", "unix_accept", "inotify_read", "poll_schedule_timeout"),
            "kernel_clone",  # vfork
            "wait_for_partner",  # fs/pipe.c: opening a FIFO waits for the other end
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
            "mm_release",
            "schedule_timeout",
            *TIMER,
        ),
    ),
)
# These end any sleep from outside: the sender of a signal did not hold the task, unless it waited for a signal.
SIGNALS = frozenset(("signal_wake_up_state", "complete_signal", "send_signal_locked", "__send_signal_locked"))
FOR_SIGNALS = frozenset(
    ("do_sigtimedwait", "sys_rt_sigtimedwait", "sigsuspend", "signalfd_read_iter", "signalfd_dequeue")
)
FOR_CHILDREN = frozenset(("do_wait",))
# The stacks are missing or disagree.
UNKNOWN = Kind("unknown", "for something unknown", (), ())


def what_of(name: str) -> str:
    """Return what a wait of this kind is for, in words after "waited"."""
    return next((kind.what for kind in KINDS if kind.name == name), UNKNOWN.what)
