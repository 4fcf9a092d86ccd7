"""One door for a run: a request is a spec that was checked, with the kernel that it runs on."""

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from wblab.core.errors import InputError
from wblab.core.spec import Spec, Trace
from wblab.core.units import Bytes
from wblab.host.check import check_run
from wblab.host.place import place_named, place_of
from wblab.host.recorded import Finished
from wblab.host.sandbox import landlock_version
from wblab.kernels import Kernel, KernelResolver, sort_events
from wblab.lab.progress import Report, silent

# What is recorded so that pauses can be explained: one set of events for all runs, so that they stay comparable.

# In every 100 s of the base experiment about 10 MB; trace-cmd takes them over while it records.
BUFFER = Bytes(4 << 20)
_BUFFER_OF_MEMORY = Bytes(32 << 20)  # reclaim takes no virtual time, in which nothing takes events over

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
# Which folios have several pages: an event of the page cache names a folio by its first page alone. Folios of one page
# are left out: there is one for each page that a program writes, and they would be a tenth of a trace.
_FOLIOS = ("filemap:mm_filemap_add_to_page_cache", "filemap:mm_filemap_delete_from_page_cache")
OF_SEVERAL_PAGES = dict.fromkeys(_FOLIOS, "order > 0")  # filters, by event; live captures have them too
EVENTS = (
    *("sched:sched_switch", "sched:sched_waking", "sched:sched_process_fork"),
    *("raw_syscalls:sys_enter", "raw_syscalls:sys_exit"),
    *(f"writeback:{name}" for name in _WRITEBACK),
    *(f"block:block_{name}" for name in _BLOCK),
    *(f"jbd2:jbd2_{name}" for name in _JOURNAL),
    *(f"xfs:{name}" for name in _XFS),
    *("lock:contention_begin", "lock:contention_end", "vmscan:mm_vmscan_throttled"),
    *_FOLIOS,
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
# Whose memory is swapped out, and who took it. Where memory can be swapped, all that comes into the page cache counts.
_OF_MEMORY = ("kmem:rss_stat",)
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
    memory = _OF_MEMORY if spec.swaps else ()
    filters |= {event: text for event, text in files.items() if text} | ({} if spec.swaps else OF_SEVERAL_PAGES)
    own = set(trace.events)  # an event, or a whole system
    return replace(
        trace,
        events=tuple(dict.fromkeys((*trace.events, *EVENTS, *files, *memory))),
        filters={event: text for event, text in filters.items() if own.isdisjoint((event, event.partition(":")[0]))}
        | trace.filters,
        triggers=_TRIGGERS | trace.triggers,
        buffer=max(trace.buffer, _BUFFER_OF_MEMORY if spec.swaps else BUFFER),
    )


def _comm(name: str) -> str:
    """Return what the kernel calls a load's task."""
    return name.encode()[:_COMM_BYTES].decode(errors="ignore")


@dataclass(frozen=True)
class Request:
    """A run that is ready: `ready` or `suited` makes it, `make_run` runs it.

    left_out: events that this kernel does not have, of the spec's and of those that explain pauses.
    """

    spec: Spec
    kernel: Kernel
    left_out: tuple[str, ...] = ()

    @property
    def traced(self) -> Spec:
        """The spec with what explains pauses and without the events left out, which is what the guest gets."""
        trace = blamed(self.spec) if is_wanted(self.spec) else self.spec.trace
        return replace(self.spec, trace=without(trace, self.left_out))


def ready(spec: Spec, resolve: KernelResolver, check: Callable[[Spec], None] | None = None) -> Request:
    """Return the request for a run on this machine. Raises InputError for one that cannot run: nothing was booted.

    check: raises InputError for a spec that this machine cannot run; by default `check_run`.
    """
    if place_named(spec.kernel.build).boots:
        (check or check_run)(spec)
    return suited(spec, resolve(spec.kernel.build))


def suited(spec: Spec, kernel: Kernel) -> Request:
    """Return the request for a run wherever it is made: that machine is not checked. Raises InputError.

    Events for which a kernel lacks a feature are left out; those that nothing excuses are misspelt.
    """
    place = place_of(kernel)
    place.check(spec, kernel)
    if not place.boots:
        return Request(spec, kernel, spec.trace.events)
    events = sort_events(kernel, spec.trace.events)
    if events.unknown:
        raise InputError(
            f"trace.events: the kernel {kernel.release} has no {', '.join(events.unknown)}: "
            "correct or remove it; names are as in /sys/kernel/tracing/events"
        )
    left_out = events.left_out
    if is_wanted(spec):
        explaining = sort_events(kernel, blamed(spec).events)
        left_out = tuple(dict.fromkeys((*left_out, *explaining.left_out, *explaining.unknown)))
    return Request(spec, kernel, left_out)


def make_run(request: Request, results: Path, report: Report = silent, **options: Any) -> Finished:
    """Make the run of a request in its place. options: the place's own. Raises RunFailedError, InputError."""
    return place_of(request.kernel).run(request, results, report=report, **options)


def without(trace: Trace, left_out: Collection[str]) -> Trace:
    """Return a trace without some events, and without what is said of them."""
    events = tuple(event for event in trace.events if event not in left_out)
    filters, triggers = (
        {event: text for event, text in texts.items() if event in events} for texts in (trace.filters, trace.triggers)
    )
    return replace(trace, events=events, filters=filters, triggers=triggers)


def notes(requests: Iterable[Request], *, here: bool = True, seeds: int = 1, landlock: int | None = None) -> list[str]:
    """Return what to know of these runs, each in a line: what they leave out, and whether the host guards its files.

    here: they run on this machine. seeds: the runs of each request. landlock: the host's version, 0 for none; by
    default this host's.
    """
    asked = list(requests)
    missing: dict[str, dict[str, None]] = {}  # events by the kernel's release, each once and in order
    runs: Counter[str] = Counter()  # that leave out some
    booted = [one for one in asked if place_of(one.kernel).boots]
    for one in booted:
        if one.left_out:
            missing.setdefault(one.kernel.release, {}).update(dict.fromkeys(one.left_out))
            runs[one.kernel.release] += seeds
    found = [
        f"the kernel {release} does not have the events {_by_system(events)}: "
        f"left out{_share(runs[release], len(asked) * seeds)}"
        for release, events in missing.items()
    ]
    if any(one.left_out for one in asked if one not in booted):
        found.append("on this machine itself a spec's events are not recorded: wblab live records them")
    if here and booted and not (landlock_version() if landlock is None else landlock):
        found.append("no Landlock on this machine: only the guest's kernel protects your files (wblab doctor)")
    return found


def _by_system(events: Iterable[str]) -> str:
    """Return events as text, each system once: syscalls:{sys_enter_openat,sys_exit_openat}."""
    systems: dict[str, list[str]] = {}
    for system, _, name in (event.partition(":") for event in events):
        systems.setdefault(system, []).append(name or "*")
    return ", ".join(
        f"{system}:{names[0]}" if len(names) == 1 else f"{system}:{{{','.join(names)}}}"
        for system, names in systems.items()
    )


def _share(runs: int, total: int) -> str:
    if total == 1:
        return ""
    return f" of all {total} runs" if runs == total else f" of {runs} of {total} runs"
