"""Kinds of wait, as data: which functions a task sleeps in, and in which functions the one is who ends that sleep.

Functions are those of the kernel's stacks, of all series that the lab knows. A kind is known where both stacks say it,
that of the sleep and that of the wake-up: two witnesses.
"""

from dataclasses import dataclass
from typing import Literal

# waits: for something. own will: as it meant to. idle: a thread of the kernel that has no work. stopped: somebody had
# stopped it; who lets it go on did not hold it.
Nature = Literal["waits", "own will", "idle", "stopped"]


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

# The first that fits is meant: what says more stands before what says less.
KINDS = (
    Kind("throttled", "as the kernel holds back who writes near the dirty limit", ("balance_dirty_pages",), TIMER),
    Kind(
        "journal writes block",
        "to change a block that the journal was writing",
        ("do_get_write_access",),
        ("journal_end_buffer_io_sync", "blk_update_request"),
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
    Kind(
        "transaction full",
        "for room in the transaction that is open",
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
        "queue frozen",
        "for a disk's queue, which was stopped to be changed",
        ("__bio_queue_enter", "blk_queue_enter", "blk_mq_freeze_queue_wait"),
        _QUEUE,
    ),
    Kind(
        "group throttled",
        "as its control group had used up its share of the disk",
        ("ioc_rqos_throttle", "blkcg_maybe_throttle_current", "__blkcg_iolatency_throttle"),
        ("iocg_wake_fn", "iocg_kick_waitq", "hrtimer_wakeup", *_QUEUE),
    ),
    Kind(
        "array",
        "for its turn at an array of disks",
        (
            *("wait_barrier", "_wait_barrier", "wait_read_barrier", "raise_barrier", "md_write_start"),
            *("md_flush_request", "raid5_get_active_stripe", "raid5_make_request"),
        ),
        _QUEUE,
    ),
    Kind(
        "folio under writeback",
        "for a page that was being written",
        (
            *("folio_wait_writeback", "folio_wait_stable", "__filemap_fdatawait_range"),
            *("wait_on_page_writeback", "wait_for_stable_page"),  # before 5.16
        ),
        _FOLIO,
    ),
    Kind(
        "inode under writeback",
        "for a file whose inode was being written",
        ("inode_wait_for_writeback", "__inode_wait_for_writeback", "inode_sleep_on_writeback"),
        (*_BIT, "inode_sync_complete", *_QUEUE),
    ),
    Kind(
        "flusher",
        "for the flusher to write what it had asked for",
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
        "busy extent",
        "for space that XFS gives free only after its log",
        ("xfs_extent_busy_flush", "xfs_extent_busy_wait_all"),
        _QUEUE,
    ),
    Kind(
        "flush",
        "for the disk to have for good what it was done with",
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
        "for the disk to have for good what it was done with",
        ("blkdev_issue_flush", "f2fs_issue_flush", "write_dev_flush", "wait_dev_flush"),
        ("submit_bio_wait_endio", "bio_wait_end_io", "blk_update_request", *_DONE),
    ),
    Kind(
        "direct write",
        "for a disk to do what was asked of it directly",
        (
            "submit_bio_wait",
            "dio_await_one",
            "__blockdev_direct_IO",
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
            "iomap_dio_done",
            "dio_bio_end_io",
            "blk_update_request",
            *_DONE,
        ),
    ),
    Kind(
        "direct writes of others",
        "for direct reads and writes of a file to end",
        ("inode_dio_wait", "__inode_dio_wait"),
        (*_BIT, "inode_dio_end", *_QUEUE),
    ),
    Kind(
        "served",
        "for the program or the server that has its filesystem",
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
        "for memory that a driver keeps for itself",
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
        "as its filesystem was frozen (fsfreeze)",
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
        "for work that it had given to threads of the kernel",
        ("__flush_work", "__flush_workqueue", "flush_workqueue", "kthread_flush_work"),
        ("wq_barrier_func", "kthread_flush_work_fn", *_DONE),
    ),
    Kind(
        "grace period",
        "for all processors to be done with what they were reading (RCU)",
        ("__wait_rcu_gp", "synchronize_rcu", "synchronize_rcu_normal", "__synchronize_srcu", "rcu_barrier"),
        ("wakeme_after_rcu", "rcu_sr_normal_complete", "rcu_barrier_callback", *_DONE),
    ),
    Kind(
        "stopped",
        "as somebody had stopped it",
        ("do_signal_stop", "ptrace_stop", "do_freezer_trap", "__refrigerator", "get_signal"),
        (
            *("prepare_signal", "wake_up_state", "signal_wake_up_state", "ptrace_resume", "__thaw_task", *_SIGNAL),
            *("cgroup_freeze_task", "cgroup_do_freeze", "cgroup_freeze", "cgroup_freeze_write"),
        ),
        nature="stopped",
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
        "for io_uring to do what it had asked for",
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
            "read_events",
            *("pipe_write", "anon_pipe_write", "futex_do_wait", "do_epoll_wait", "sigsuspend", "wait_woken"),
            *("__skb_wait_for_more_packets", "inet_csk_accept", "unix_accept", "inotify_read", "poll_schedule_timeout"),
            "kernel_clone",  # vfork
            "wait_for_partner",  # fs/pipe.c: who opens a FIFO waits for the other side
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
# What ends a sleep from outside, whatever it was for: who sends a signal did not hold it, unless it waited for one.
SIGNALS = frozenset(("signal_wake_up_state", "complete_signal", "send_signal_locked", "__send_signal_locked"))
FOR_SIGNALS = frozenset(
    ("do_sigtimedwait", "sys_rt_sigtimedwait", "sigsuspend", "signalfd_read_iter", "signalfd_dequeue")
)
FOR_CHILDREN = frozenset(("do_wait",))
# What two stacks do not say.
UNKNOWN = Kind("unknown", "for something unknown", (), ())
