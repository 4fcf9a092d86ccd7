"""What is recorded so that pauses can be explained: one set of events for all runs, so that they stay comparable."""

import os
from dataclasses import replace

from wblab.core.spec import Spec, Trace
from wblab.core.units import Bytes

# In every 100 s of the base experiment about 10 MB; trace-cmd takes them over while it records.
BUFFER = Bytes(4 << 20)

_BLOCK = ("buffer_wait", "bio_submit", "bio_remap", "rq_insert", "rq_issue", "rq_complete", "rq_tag_wait", "rq_requeue")
_JOURNAL = (
    *("start_commit", "commit_locking", "commit_flushing", "commit_logging", "end_commit", "checkpoint"),
    *("run_stats", "checkpoint_stats"),
)
_WRITEBACK = (
    *("balance_dirty_pages", "global_dirty_state", "bdi_dirty_ratelimit", "writeback_dirty_folio"),
    *("folio_wait_writeback", "writeback_single_inode_start", "writeback_single_inode", "writeback_start"),
    "writeback_written",
)
_XFS = ("xfs_log_grant_sleep", "xfs_log_grant_wake", "xfs_buf_iowait", "xfs_log_force", "xlog_iclog_wait_on")
EVENTS = (
    *("sched:sched_switch", "sched:sched_waking", "sched:sched_process_fork"),
    *("raw_syscalls:sys_enter", "raw_syscalls:sys_exit"),
    *(f"writeback:{name}" for name in _WRITEBACK),
    *(f"block:block_{name}" for name in _BLOCK),
    *(f"jbd2:jbd2_{name}" for name in _JOURNAL),
    *(f"xfs:{name}" for name in _XFS),
    *("lock:contention_begin", "lock:contention_end", "vmscan:mm_vmscan_throttled"),
)
# A task that is only preempted has 0x100 here. trace-cmd's own sleeps explain nothing.
_TRIGGERS = {
    "sched:sched_switch": 'stacktrace if prev_state & 255 && prev_comm != "trace-cmd"',
    "sched:sched_waking": 'stacktrace if comm != "trace-cmd"',
}
# Which files programs look for, change and lock: kernels since 6.19 trace the names. Files that are opened only to be
# read are left out: each program opens many of its own.
_FILES = {
    **dict.fromkeys(("unlink", "unlinkat", "rmdir", "mkdir", "rename", "renameat2", "dup2", "flock"), ""),
    **dict.fromkeys(("newfstatat", "access", "faccessat2"), ""),
    "openat": f"flags & {os.O_WRONLY | os.O_RDWR | os.O_CREAT}",
    "fcntl": "cmd == 7 || cmd == 38",  # F_SETLKW and F_OFD_SETLKW, include/uapi/asm-generic/fcntl.h
}
_OF_PROGRAMS = {f"syscalls:sys_enter_{call}": text for call, text in _FILES.items()} | {"syscalls:sys_exit_openat": ""}
_CALLS = ("raw_syscalls:sys_enter", "raw_syscalls:sys_exit")
_COMM_BYTES = 15  # TASK_COMM_LEN without the NUL
_MOST_LOADS = 40  # a filter of the kernel is at most a page long


def is_wanted(spec: Spec) -> bool:
    """Whether a spec wants what explains pauses to be recorded."""
    always = spec.trace.blame == "always" or (spec.trace.blame == "virtual" and spec.clock.mode == "virtual")
    return always and bool(spec.trace.events)


def blamed(spec: Spec) -> Trace:
    """Return the trace of a spec with all that explains pauses, and a buffer that does not lose any of it.

    System calls are those of loads that do not end by themselves: offenders make too many. Names of files are traced
    only where a spec has programs. What it has itself of events, filters and triggers comes before what is said here.
    """
    trace = spec.trace
    names = [name for name, load in spec.load.items() if load.role != "offender"]
    of_loads = " || ".join(f'COMM == "{_comm(name)}"' for name in names)
    filters = dict.fromkeys(_CALLS, of_loads) if 0 < len(names) <= _MOST_LOADS else {}
    files = _OF_PROGRAMS if spec.needs_lab else {}
    filters |= {event: text for event, text in files.items() if text}
    own = set(trace.events)
    return replace(
        trace,
        events=tuple(dict.fromkeys((*trace.events, *EVENTS, *files))),
        filters={event: text for event, text in filters.items() if event not in own} | trace.filters,
        triggers=_TRIGGERS | trace.triggers,
        buffer=max(trace.buffer, BUFFER),
    )


def _comm(name: str) -> str:
    """Return what the kernel calls a load's task."""
    return name.encode()[:_COMM_BYTES].decode(errors="ignore")
