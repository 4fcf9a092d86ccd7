"""In which function a task sleeps, in kernels from 3.0 on, and what it waits for there.

`wblab.analysis.why.kinds` has the kinds, and the functions of the series that the lab runs. There two stacks decide,
the sleeper's and the waker's. A text has the sleeper's alone, so here only the innermost function counts that is no
part of the scheduler: what sleeps deeper than a function of these tables is not known. A function in which tasks sleep
for several reasons says nothing by itself; its caller does.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from wblab.analysis.why.kinds import KINDS


@dataclass(frozen=True)
class Name:
    """A function of kernels that the lab does not run. first, last: the versions that sleep in it; last "" for today's.

    directly: only if it calls the scheduler itself, as it also calls what sleeps for other reasons.
    """

    function: str
    kind: str
    first: str
    last: str = ""
    directly: bool = False


@dataclass(frozen=True)
class Shared:
    """Functions in which tasks sleep for several reasons, and the callers that say for which, by kind.

    near: so many frames outwards a caller may be. next_to: callers that say another thing, "" for nothing, where no
    function is between. otherwise: what to say of the wait if no caller is known; empty for nothing.
    """

    functions: tuple[str, ...]
    callers: tuple[tuple[str, tuple[str, ...]], ...]
    near: int = 4
    otherwise: str = ""
    kind: str = ""  # if no caller is known
    next_to: tuple[tuple[str, tuple[str, ...]], ...] = ()


# Parts of the scheduler and of its primitives, which say nothing of the reason.
SCHEDULER = frozenset(
    (
        *(
            "schedule",
            "__schedule",
            "schedule_timeout",
            "schedule_timeout_uninterruptible",
            "schedule_timeout_killable",
        ),
        *("schedule_timeout_interruptible", "schedule_timeout_idle", "schedule_preempt_disabled", "io_schedule"),
        *("io_schedule_timeout", "blk_io_schedule", "schedule_hrtimeout_range", "schedule_hrtimeout_range_clock"),
        *(
            "schedule_hrtimeout",
            "__switch_to",
            "__switch_to_asm",
            "context_switch",
            "__schedule_loop",
            "schedule_debug",
        ),
        *(
            "_schedule",
            "preempt_schedule",
            "preempt_schedule_common",
            "__cond_resched",
            "_cond_resched",
            "__schedule_bug",
        ),
        *("switch_to", "__sched_text_start", "schedule_rtlock", "rt_mutex_schedule", "msleep", "msleep_interruptible"),
        *(
            "thread_return",
            "need_resched",
            "schedule_timeout_range",
            "preempt_schedule_irq",
            "resume",
            "switch_threads",
        ),
    )
)
PRIMITIVES = frozenset(
    (
        *("bit_wait", "bit_wait_io", "bit_wait_timeout", "bit_wait_io_timeout", "__wait_on_bit", "__wait_on_bit_lock"),
        *("out_of_line_wait_on_bit", "out_of_line_wait_on_bit_lock", "out_of_line_wait_on_bit_timeout"),
        *("wait_on_bit", "wait_on_bit_io", "wait_on_bit_lock", "wait_on_bit_timeout", "wait_on_bit_lock_io"),
        *("sleep_on_page", "sleep_on_page_killable", "sync_page", "sync_page_killable", "sleep_on_buffer"),  # to 3.16
        *("sync_buffer", "inode_wait", "sleep_on_shadow_bh", "wait_on_atomic_t", "out_of_line_wait_on_atomic_t"),
        *("wait_for_common", "__wait_for_common", "do_wait_for_common", "wait_for_common_io"),
        *("wait_for_completion", "wait_for_completion_io", "wait_for_completion_timeout", "wait_for_completion_state"),
        *("wait_for_completion_killable", "wait_for_completion_interruptible", "wait_for_completion_io_timeout"),
        *("wait_for_completion_killable_timeout", "wait_for_completion_interruptible_timeout"),
        *("prepare_to_wait", "prepare_to_wait_event", "prepare_to_wait_exclusive", "finish_wait", "sleep_on_common"),
        *("sleep_on", "rcuwait_wait_event", "wait_var_event", "__wait_var_event", "wait_on_bit_common"),
    )
)

# Functions of the lab's table that sleep for more reasons than one: see SHARED.
_NOT_ALONE = frozenset(
    (
        *("folio_wait_bit_common", "wait_on_page_bit_common", "rq_qos_wait", "submit_bio_wait", "blk_wait_io"),
        *("congestion_wait", "__percpu_down_read", "percpu_rwsem_wait", "do_get_write_access", "write_all_supers"),
        *("balance_pgdat", "get_signal", "kernel_clone", "out_of_line_wait_on_bit_lock", "out_of_line_wait_on_bit"),
        *("__filemap_fdatawait_range",),
    )
)

NAMES = (
    Name("balance_dirty_pages_ratelimited_nr", "throttled", "3.0", "3.8"),  # where balance_dirty_pages is inlined
    Name("balance_dirty_pages_ratelimited", "throttled", "3.9", directly=True),
    Name("balance_dirty_pages_ratelimited_flags", "throttled", "6.0", directly=True),
    # The journal: jbd of ext3, and jbd2 before functions were split.
    Name("do_get_write_access", "journal writes block", "3.0"),
    Name("start_this_handle", "transaction locked", "3.0"),
    Name("log_wait_commit", "commit", "3.0", "4.2"),
    Name("__log_wait_for_space", "journal full", "3.0", "4.2"),
    Name("log_do_checkpoint", "journal full", "3.0", "4.2"),
    Name("jbd2_journal_commit_transaction", "open handles", "3.0", "5.16", directly=True),
    Name("journal_commit_transaction", "open handles", "3.0", "4.2", directly=True),
    Name("jbd2_journal_lock_updates", "open handles", "3.0", directly=True),
    Name("journal_lock_updates", "open handles", "3.0", "4.2", directly=True),
    # The disk's queue.
    Name("get_request_wait", "request", "3.0", "3.5"),
    Name("get_request", "request", "3.6", "4.20"),
    Name("bt_get", "request", "3.18", "4.7"),
    Name("blk_mq_wait_for_tags", "request", "3.13", "3.17"),
    Name("blk_mq_get_request", "request", "4.8", "5.9", directly=True),
    Name("__blk_mq_alloc_requests", "request", "5.14", directly=True),
    Name("__blk_mq_alloc_request", "request", "5.10", directly=True),
    Name("__wbt_wait", "write-back throttling", "4.10"),
    Name("may_queue", "write-back throttling", "4.10", "4.18", directly=True),
    Name("blk_mq_queue_enter", "queue frozen", "3.13", "4.0"),
    Name("blk_mq_freeze_queue", "queue frozen", "3.18"),
    Name("get_active_stripe", "array", "3.0", "3.18"),
    Name("bitmap_startwrite", "array", "3.0", "4.18"),
    Name("md_bitmap_startwrite", "array", "4.19"),
    Name("md_super_wait", "array", "3.0"),
    # Pages, folios and inodes.
    Name("filemap_fdatawait_range", "folio under writeback", "3.0", directly=True),
    Name("wait_for_stable_page", "folio under writeback", "3.9", "5.15"),
    Name("f2fs_wait_on_page_writeback", "folio under writeback", "3.8"),
    Name("__lock_page_or_retry", "folio locked", "3.0", "5.15"),
    Name("__folio_lock_or_retry", "folio locked", "5.16"),
    Name("wait_on_page_read", "folio locked", "3.0", "5.15"),
    Name("put_and_wait_on_page_locked", "folio locked", "4.20", "5.15"),
    Name("folio_put_wait_locked", "folio locked", "5.16"),
    Name("wait_sb_inodes", "folio under writeback", "3.0", directly=True),
    Name("writeback_inodes_sb_nr", "flusher", "3.0", "4.4"),
    Name("__writeback_inodes_sb_nr", "flusher", "4.5"),
    Name("writeback_inodes_sb", "flusher", "3.0"),
    Name("sync_inodes_sb", "flusher", "3.0", "4.2"),
    Name("__sync_dirty_buffer", "buffer", "3.0"),
    Name("sync_dirty_buffer", "buffer", "3.0"),
    Name("wait_on_buffer", "buffer", "3.0"),
    Name("jbd2_write_superblock", "buffer", "3.0"),
    Name("__bread", "buffer", "3.0", "3.17"),
    Name("__bread_gfp", "buffer", "3.18"),
    Name("bh_submit_read", "buffer", "3.0", "6.0"),
    # XFS.
    Name("xlog_grant_log_space", "log space", "3.0", "3.3"),
    Name("xlog_regrant_write_log_space", "log space", "3.0", "3.3"),
    Name("xlog_reserveq_wait", "log space", "3.2", "3.3"),
    Name("xlog_writeq_wait", "log space", "3.2", "3.3"),
    Name("_xfs_log_force", "log write", "3.0", "4.16"),
    Name("_xfs_log_force_lsn", "log write", "3.0", "4.16"),
    Name("__xfs_log_force_lsn", "log write", "4.17", "5.6"),
    Name("xfs_log_force_lsn", "log write", "3.0", "5.12"),
    Name("xlog_cil_force_lsn", "log write", "3.0", "5.12"),
    Name("xlog_cil_push", "log write", "3.0", "5.6"),
    Name("xlog_wait", "log write", "3.0"),
    Name("xfs_buf_wait_unpin", "log write", "3.0"),
    Name("_xfs_buf_find", "XFS block locked", "3.0", "4.18"),
    Name("xfs_buf_find_lock", "XFS block locked", "5.19"),
    # btrfs.
    Name("start_transaction", "btrfs transaction", "3.0"),
    Name("btrfs_sync_log", "btrfs transaction", "3.0", directly=True),
    Name("btrfs_wait_for_commit", "btrfs transaction", "3.0"),
    Name("wait_for_commit", "btrfs transaction", "3.0"),
    Name("reserve_metadata_bytes", "btrfs space", "3.0", "5.10"),
    Name("lock_extent_bits", "btrfs extent", "3.0", "6.0"),
    Name("wait_on_state", "btrfs extent", "3.0", "4.0"),
    Name("btrfs_wait_ordered_roots", "btrfs extent", "3.14"),
    Name("wait_on_extent_buffer_writeback", "btrfs block", "3.4", "6.5"),
    Name("btrfs_tree_lock", "lock", "3.0", "5.9"),
    Name("btrfs_tree_read_lock", "lock", "3.4", "5.9"),
    # F2FS.
    Name("wait_on_all_pages_writeback", "checkpoint", "3.8", "4.15"),
    Name("f2fs_wait_on_all_pages_writeback", "checkpoint", "4.16", "5.8"),
    # Direct I/O.
    Name("do_blockdev_direct_IO", "direct write", "3.1"),
    Name("__blockdev_direct_IO_newtrunc", "direct write", "3.0", "3.0"),
    Name("dio_await_completion", "direct write", "3.0"),
    Name("__blkdev_direct_IO", "direct write", "4.10", directly=True),
    # What serves a filesystem from elsewhere.
    Name("fuse_request_send", "served", "3.0", "5.4"),
    Name("__fuse_request_send", "served", "3.12"),
    Name("__fuse_simple_request", "served", "6.9"),
    Name("fuse_simple_request", "served", "3.20"),
    Name("fuse_get_req", "served", "3.0", "5.5"),
    Name("__fuse_get_req", "served", "3.12", "5.5"),
    Name("fuse_get_req_nofail_nopages", "served", "3.12", "5.5"),
    Name("fuse_wait_on_page_writeback", "served", "3.0"),
    Name("fuse_wait_on_folio_writeback", "served", "6.12"),
    Name("fuse_set_nowrite", "served", "3.0"),
    Name("nfs_wait_bit_uninterruptible", "served", "3.0", "3.16"),
    Name("nfs_wait_on_request", "served", "3.0"),
    Name("nfs_direct_wait", "served", "3.0"),
    Name("nfs4_wait_bit_killable", "served", "3.0"),
    Name("nfs_iocounter_wait", "served", "3.10"),
    Name("__rpc_execute", "served", "3.0"),
    Name("__rpc_wait_for_completion_task", "served", "3.0"),
    Name("rpc_wait_for_completion_task", "served", "3.0"),
    Name("wait_for_response", "served", "3.0"),
    Name("wait_for_free_request", "served", "3.0"),
    Name("wait_for_free_credits", "served", "3.0"),
    Name("compound_send_recv", "served", "4.20"),
    Name("cifs_send_recv", "served", "4.12"),
    Name("ceph_mdsc_do_request", "served", "3.0"),
    Name("ceph_mdsc_wait_request", "served", "4.20"),
    Name("ceph_osdc_wait_request", "served", "3.0"),
    Name("wait_request_timeout", "served", "4.7"),
    Name("ceph_get_caps", "served", "3.0"),
    Name("__ceph_get_caps", "served", "5.4"),
    Name("p9_client_rpc", "served", "3.0"),
    Name("p9_virtio_request", "served", "3.0"),
    # Memory.
    Name("wait_iff_congested", "reclaim", "3.0", "5.15"),
    Name("throttle_vm_writeout", "reclaim", "3.0", "4.19"),
    Name("shrink_inactive_list", "reclaim", "3.0", directly=True),
    Name("shrink_page_list", "folio under writeback", "3.0", "5.17", directly=True),
    Name("try_to_free_pages", "reclaim", "3.6", directly=True),  # throttle_direct_reclaim is inlined there
    Name("mem_cgroup_oom_synchronize", "reclaim", "3.12"),
    Name("mem_cgroup_handle_oom", "reclaim", "3.0", "3.11"),
    # Locks.
    Name("mutex_lock_nested", "lock", "3.0"),
    Name("mutex_lock_killable", "lock", "3.0"),
    Name("mutex_lock_interruptible", "lock", "3.0"),
    Name("__mutex_lock_killable_slowpath", "lock", "3.0"),
    Name("__mutex_lock_interruptible_slowpath", "lock", "3.0"),
    Name("__mutex_lock_common", "lock", "3.0"),
    Name("mutex_lock_io_nested", "lock", "4.11"),
    Name("__ww_mutex_lock", "lock", "3.11"),
    Name("rwsem_down_failed_common", "lock", "3.0", "3.8"),
    Name("rwsem_down_read_failed", "lock", "3.0", "5.1"),
    Name("rwsem_down_write_failed", "lock", "3.0", "5.1"),
    Name("rwsem_down_read_failed_killable", "lock", "4.15", "5.1"),
    Name("rwsem_down_write_failed_killable", "lock", "4.7", "5.1"),
    Name("call_rwsem_down_read_failed", "lock", "3.0", "5.1"),
    Name("call_rwsem_down_write_failed", "lock", "3.0", "5.1"),
    Name("__down_read", "lock", "3.0"),
    Name("__down_write", "lock", "3.0"),
    Name("__down_write_nested", "lock", "3.0", "4.7"),
    Name("down_read_killable", "lock", "4.15"),
    Name("down_read_interruptible", "lock", "5.11"),
    Name("down_write_killable", "lock", "4.7"),
    Name("__down_timeout", "lock", "3.0"),
    Name("down", "lock", "3.0"),
    Name("rwbase_read_lock", "lock", "5.15"),
    Name("__rwbase_read_lock", "lock", "5.15"),
    Name("rt_spin_lock_slowlock", "lock", "3.0", "5.14"),
    Name("rt_mutex_slowlock", "lock", "3.0"),
    Name("rt_mutex_slowlock_block", "lock", "5.15"),
    Name("flock_lock_file_wait", "file lock", "3.0", "4.1"),
    Name("posix_lock_file_wait", "file lock", "3.0", "4.4"),
    Name("fcntl_setlk", "file lock", "3.0"),
    Name("__sb_start_write", "frozen", "3.6"),
    # Work and grace periods.
    Name("flush_work", "work", "3.0"),
    Name("flush_delayed_work", "work", "3.0"),
    Name("wait_on_work", "work", "3.0", "3.6"),
    Name("drain_workqueue", "work", "3.3"),
    Name("kthread_flush_worker", "work", "4.9"),
    Name("wait_rcu_gp", "grace period", "3.1", "4.4"),
    Name("synchronize_sched", "grace period", "3.0", "4.20"),
    Name("synchronize_sched_expedited", "grace period", "3.0", "4.20"),
    Name("synchronize_rcu_expedited", "grace period", "3.0"),
    Name("synchronize_srcu", "grace period", "3.0"),
    Name("wait_rcu_exp_gp", "grace period", "4.5"),
    Name("_rcu_barrier", "grace period", "3.0", "5.0"),
    # By its own will, for others, or without work.
    Name("sys_nanosleep", "sleep", "3.0"),
    Name("common_nsleep", "sleep", "4.13"),
    Name("get_signal", "stopped", "4.11", directly=True),
    Name("get_signal_to_deliver", "stopped", "3.0", "3.15", directly=True),
    Name("try_to_freeze", "stopped", "3.0", directly=True),
    Name("futex_wait_queue_me", "task", "3.0", "5.15"),
    Name("futex_wait", "task", "3.0"),
    Name("wait_for_vfork_done", "task", "3.0"),
    Name("kernel_clone", "task", "5.10"),
    Name("do_fork", "task", "3.0", "4.1"),
    Name("_do_fork", "task", "4.2", "5.9"),
    Name("pipe_wait", "task", "3.0", "5.4"),
    Name("sk_wait_data", "task", "3.0"),
    Name("unix_stream_data_wait", "task", "3.0"),
    Name("inet_csk_wait_for_connect", "task", "3.0", "5.9"),
    Name("inet_stream_connect", "task", "3.0", directly=True),
    Name("n_tty_read", "task", "3.0"),
    Name("do_sys_poll", "task", "3.0"),
    Name("sys_epoll_wait", "task", "3.0"),
    Name("sys_pause", "task", "3.0"),
    Name("do_syslog", "task", "3.0"),
    Name("sys_rt_sigsuspend", "task", "3.0"),
    Name("bdi_writeback_thread", "idle", "3.0", "3.9"),
    Name("bdi_writeback_task", "idle", "3.0", "3.0"),
    Name("bdi_forker_thread", "idle", "3.0", "3.9"),
    Name("kjournald", "idle", "3.0", "4.2"),
    Name("loop_thread", "idle", "3.0", "4.0"),
    Name("kthreadd", "idle", "3.0"),
    Name("kauditd_thread", "idle", "3.0"),
    Name("scsi_error_handler", "idle", "3.0"),
    Name("mmc_queue_thread", "idle", "3.0", "4.15"),
    Name("svc_recv", "idle", "3.0"),
    Name("xfsbufd", "idle", "3.0", "3.4"),
    Name("watchdog", "idle", "3.0"),
    Name("ksoftirqd", "idle", "3.0"),
    Name("run_ksoftirqd", "idle", "3.0"),
    Name("oom_reaper", "idle", "4.6"),
    Name("ksm_scan_thread", "idle", "3.0"),
    Name("rcu_nocb_kthread", "idle", "3.8", "5.2"),
    Name("rcu_gp_fqs_loop", "idle", "4.20"),
    Name("kswapd_try_to_sleep", "idle", "3.0"),
    Name("usb_stor_control_thread", "idle", "3.0"),
    Name("ext4_lazyinit_thread", "idle", "3.0"),
)

# Where the kernel waits for a bit of a buffer, by functions that are inlined, in these filesystems it is of a block.
BUFFER_WAITS = ("out_of_line_wait_on_bit", "out_of_line_wait_on_bit_lock")
BUFFER_USERS = re.compile(r"_{0,2}(?:ext[234]|jbd2?|journal|fat|reiserfs|isofs|udf|block|bread|ll_rw_block)(?:_|$)")
BUFFER_LOCKERS = ("do_get_write_access",)  # it waits for a bit of its own, and for a locked block too

# What a function waits for in /proc/PID/stack, which leaves out the scheduler's functions, and __wait_on_buffer with
# them, where that calls them last (as Debian's 7.2 does).
UNSEEN = dict.fromkeys(
    ("jbd2_journal_commit_transaction", "journal_commit_transaction"),
    "for other tasks to finish their part of a transaction, or for a block",
)

_WRITEBACK = (
    *("filemap_fdatawait_range", "__filemap_fdatawait_range", "filemap_fdatawait", "filemap_fdatawait_keep_errors"),
    *("filemap_write_and_wait_range", "file_write_and_wait_range", "filemap_fdatawait_range_keep_errors"),
    *("wait_on_page_writeback", "folio_wait_writeback", "wait_for_stable_page", "folio_wait_stable"),
    *("wait_on_page_writeback_killable", "folio_wait_writeback_killable", "wait_on_page_writeback_range"),
    *("write_cache_pages", "mpage_prepare_extent_to_map", "write_cache_pages_da", "ext4_da_writepages"),
    *("ext4_bio_write_page", "extent_write_cache_pages", "btrfs_wait_ordered_range", "wait_sb_inodes"),
    *("truncate_inode_pages_range", "truncate_inode_pages", "invalidate_inode_pages2_range", "shrink_page_list"),
    *("shrink_folio_list", "ext4_page_mkwrite", "block_page_mkwrite", "__block_page_mkwrite", "iomap_page_mkwrite"),
    *("grab_cache_page_write_begin", "f2fs_wait_on_page_writeback", "btrfs_page_mkwrite", "xfs_vm_page_mkwrite"),
    *("prepare_pages", "writeback_iter", "writeback_get_folio", "folio_prepare_writeback", "f2fs_write_cache_pages"),
    *("filemap_write_and_wait", "truncate_inode_partial_folio", "gfs2_write_jdata_pagevec", "wait_on_page_dirty"),
)
_LOCKED = (
    *("__lock_page", "__lock_page_killable", "__lock_page_or_retry", "__folio_lock", "__folio_lock_killable"),
    *("__folio_lock_or_retry", "lock_page", "folio_lock", "wait_on_page_locked", "folio_wait_locked"),
    *("wait_on_page_read", "read_cache_page", "read_cache_page_async", "do_read_cache_page", "do_read_cache_folio"),
    *("put_and_wait_on_page_locked", "folio_put_wait_locked", "generic_file_buffered_read", "filemap_update_page"),
    *("filemap_read", "filemap_get_pages", "do_generic_file_read", "generic_file_aio_read", "generic_file_read_iter"),
    *(
        "read_extent_buffer_pages",
        "filemap_fault",
        "read_pages",
        "lock_page_maybe_drop_mmap",
        "wait_on_page_locked_killable",
    ),
    *("__filemap_get_folio", "__filemap_get_folio_mpol", "pagecache_get_page"),  # where __folio_lock is a tail call
    *("filemap_read_page", "filemap_read_folio", "folio_wait_locked_killable", "sleep_on_page_lock", "find_lock_page"),
)
# These wait for a page's lock and for its writeback. Since Linux 5.2 a wait for writeback has a function of its own,
# and one for the lock none, as __folio_lock is a tail call: what they call themselves is the lock. Before, it was
# either.
_LOCK_AND_WAIT = (
    *("truncate_inode_pages_range", "truncate_inode_pages", "invalidate_inode_pages2_range", "write_cache_pages"),
    *("mpage_prepare_extent_to_map", "write_cache_pages_da", "extent_write_cache_pages", "f2fs_write_cache_pages"),
    *("ext4_page_mkwrite", "iomap_page_mkwrite", "btrfs_page_mkwrite", "prepare_pages", "writeback_iter"),
    *("writeback_get_folio", "folio_prepare_writeback", "grab_cache_page_write_begin", "block_page_mkwrite"),
)
_MEMORY = (
    *("shrink_inactive_list", "shrink_zone", "shrink_node", "shrink_lruvec", "do_try_to_free_pages", "balance_pgdat"),
    *("__alloc_pages_slowpath", "__alloc_pages_nodemask", "__alloc_pages", "throttle_vm_writeout", "kswapd"),
    *("isolate_migratepages", "isolate_migratepages_range", "isolate_migratepages_block", "compact_zone"),
    *("xfs_buf_get_map", "xfs_buf_allocate_memory", "kmem_alloc", "kmem_zone_alloc", "kmem_alloc_large"),
    *("shrink_list", "try_to_free_pages", "__perform_reclaim", "mem_cgroup_resize_limit", "too_many_isolated"),
)
_FREEZABLE = (
    *("__sb_start_write", "sb_start_write", "mnt_want_write", "mnt_want_write_file", "vfs_write", "ksys_write"),
    *("file_start_write", "do_iter_write", "vfs_writev", "sb_start_pagefault", "sb_start_intwrite", "xfs_trans_alloc"),
    *("ext4_page_mkwrite", "ext4_evict_inode", "do_iter_readv_writev", "vfs_fallocate", "do_sys_ftruncate"),
    *("filename_create", "do_unlinkat", "do_rmdir", "do_renameat2", "open_last_lookups", "path_openat", "do_last"),
    *("vfs_iter_write", "aio_write", "io_write", "do_sendfile", "do_splice", "btrfs_page_mkwrite", "touch_atime"),
)
_FLUSHES = (
    *("blkdev_issue_flush", "__blkdev_issue_flush", "f2fs_issue_flush", "submit_flush_wait", "__submit_flush_wait"),
    "xfs_blkdev_issue_flush",
)
_DIRECT = (
    "__blkdev_direct_IO_simple",
    "__blockdev_direct_IO",
    "blkdev_direct_IO",
    "__iomap_dio_rw",
    "blkdev_direct_write",
)

SHARED = (
    Shared(
        ("folio_wait_bit_common",),
        (("folio under writeback", _WRITEBACK), ("folio locked", _LOCKED)),
        near=3,
        otherwise="for a page, locked or under writeback",
        next_to=(("folio locked", _LOCK_AND_WAIT),),
    ),
    Shared(
        ("wait_on_page_bit_common",),
        (("folio under writeback", _WRITEBACK), ("folio locked", _LOCKED)),
        near=3,
        otherwise="for a page, locked or under writeback",
        next_to=(("", _LOCK_AND_WAIT),),
    ),
    Shared(
        ("wait_on_page_bit", "wait_on_page_bit_killable", "folio_wait_bit", "folio_wait_bit_killable"),
        (("folio under writeback", _WRITEBACK), ("folio locked", _LOCKED)),
        near=3,
        otherwise="for a page, locked or under writeback",
    ),
    Shared(
        ("rq_qos_wait",),
        (
            ("write-back throttling", ("wbt_wait", "__wbt_wait")),
            ("group throttled", ("blkcg_iolatency_throttle", "__blkcg_iolatency_throttle")),
        ),
        otherwise="for its turn in the disk's queue",
    ),
    Shared(
        ("submit_bio_wait", "blk_wait_io"),
        (("flush", _FLUSHES), ("direct write", _DIRECT)),
        near=2,
        otherwise="for a disk to complete a request",
    ),
    Shared(
        ("congestion_wait",),
        (("reclaim", _MEMORY),),
        near=3,
        otherwise="for a moment, because disks or memory were busy",
    ),
    Shared(
        ("percpu_rwsem_wait", "__percpu_down_read", "percpu_down_read"),
        (("frozen", _FREEZABLE),),
        near=3,
        kind="lock",
    ),
    Shared(
        ("blk_execute_rq", "scsi_execute", "scsi_execute_cmd", "__scsi_execute"),
        (),
        otherwise="for a disk to answer a command",
    ),
    Shared(
        ("__wait_on_freeing_inode", "find_inode", "find_inode_fast", "wait_on_inode", "__wait_on_inode"),
        (),
        otherwise="for another task to finish with an inode",
    ),
    Shared(("migration_entry_wait", "migration_entry_wait_on_locked"), (), otherwise="for a page that was being moved"),
    Shared(("crypt_convert",), (), otherwise="for a driver of ciphers to encrypt or decrypt (dm-crypt)"),
    Shared(("write_all_supers", "barrier_all_devices"), (), kind="flush"),
)
# Locks that are taken, and work that is queued, for one purpose only: what the caller waits for.
PURPOSES = {
    "__jbd2_log_wait_for_space": "journal full",
    "jbd2_log_wait_for_space": "journal full",
    "jbd2_log_do_checkpoint": "journal full",
    "__log_wait_for_space": "journal full",
    "xfs_buf_lock": "XFS block locked",
    "_xfs_buf_find": "XFS block locked",
    "xfs_buf_find_lock": "XFS block locked",
    "xlog_cil_push_now": "log write",
    "xlog_cil_force_lsn": "log write",
    "xlog_cil_force_seq": "log write",
}


# For what a page or a place in a queue is waited for, if for memory of programs in swap: the innermost says it.
SWAPS = {
    **{function: kind.name for kind in KINDS if kind.name in ("swap-in", "swap-out") for function in kind.besides},
    **dict.fromkeys(("shmem_swapin_page", "read_swap_cache_async", "swap_cluster_readahead"), "swap-in"),
    **dict.fromkeys(_MEMORY, ""),
}
SWAP_WAITS = ("folio locked", "request", "write-back throttling", "group throttled", "pool")
# They sleep where others do, and their callers tell them apart, which a stack that is cut may lack.
_BY_CALLERS = ("direct read", "swap-in", "swap-out")


def _direct(names: Iterable[Name]) -> dict[str, Name]:
    found = {name.function: name for name in names}
    for kind in KINDS:
        for function in kind.sleeps if kind.name not in _BY_CALLERS else ():
            if function not in _NOT_ALONE:
                found.setdefault(function, Name(function, kind.name, ""))
    return found


SLEEPS = _direct(NAMES)
CALLERS = {function: shared for shared in SHARED for function in shared.functions}
NATURES = {kind.name: kind.nature for kind in KINDS}
WORDS = {kind.name: kind.what for kind in KINDS}
