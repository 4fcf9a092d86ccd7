"""A task judged by its stack: what it waits for, in which call, on which filesystem, and what it is itself."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from wblab.analysis.why.onestack import UNKNOWN, Wait, is_known, is_passed, wait_in
from wblab.analysis.why.sleeps import SCHEDULER
from wblab.foreign.stacks import Task

Role = Literal["program", "flusher", "journal", "reclaim", "log", "disk", "kernel"]

_MOST_MEMBERS = 1000  # tasks of a group that are named to programs


@dataclass(frozen=True)
class Judged:
    """A task and what its stack says.

    call: the system call that it is in, or another way into the kernel, "" if not said. filesystem: by names of
    functions, "" if none shows. role: what it is for others. disk: as its name has it, such as sdb1 of jbd2/sdb1-8 or
    8:16 of flush-8:16; "" if it has none.
    """

    task: Task
    wait: Wait
    call: str
    filesystem: str
    role: Role
    disk: str


_CALL = re.compile(
    r"(?:__)?(?:(?:x64|ia32|arm64|s390x?|riscv|powerpc|loongarch)_)?(?:__)?(?:compat_)?(?:sys|SyS|SYSC|ksys|__se_sys|__do_sys)_"
    r"(?P<name>[a-z][a-z0-9_]{1,30})"
)
_NO_CALL = frozenset(("call", "enter", "exit"))
# What is called when the system call's own function is not in the stack, outermost first.
_INTO = {
    **dict.fromkeys(("do_fsync", "vfs_fsync", "vfs_fsync_range", "vfs_fsync_range_nolock"), "fsync"),
    **dict.fromkeys(("do_sync", "sync_filesystems"), "sync"),
    **dict.fromkeys(("do_sys_open", "do_sys_openat2", "do_filp_open"), "open"),
    **dict.fromkeys(("vfs_write", "vfs_writev", "do_iter_write", "new_sync_write", "do_sync_write"), "write"),
    **dict.fromkeys(("vfs_read", "vfs_readv", "new_sync_read", "do_sync_read"), "read"),
    **dict.fromkeys(("do_unlinkat", "vfs_unlink"), "unlink"),
    **dict.fromkeys(("do_renameat2", "vfs_rename"), "rename"),
    **dict.fromkeys(("do_mkdirat", "vfs_mkdir"), "mkdir"),
    **dict.fromkeys(("do_sys_ftruncate", "do_sys_truncate", "vfs_truncate", "do_truncate"), "truncate"),
    **dict.fromkeys(("do_page_fault", "__do_page_fault", "exc_page_fault", "do_user_addr_fault"), "a page fault"),
    **dict.fromkeys(("do_mem_abort", "el0_da", "handle_mm_fault"), "a page fault"),
    **dict.fromkeys(("do_exit", "do_group_exit", "make_task_dead"), "its end"),
    **dict.fromkeys(("do_umount", "cleanup_mnt", "path_umount"), "umount"),
    **dict.fromkeys(("path_mount", "do_mount"), "mount"),
    **dict.fromkeys(("do_execve", "do_execveat_common", "search_binary_handler"), "execve"),
    "filename_lookup": "a look-up of a name",
    "vfs_fallocate": "fallocate",
    "iterate_dir": "getdents",
    "__fput": "close",
}
_FILESYSTEMS = tuple(
    (name, re.compile(pattern))
    for name, pattern in (
        ("ext4", r"_{0,2}ext4_"),
        ("ext3", r"_{0,2}ext3_"),
        ("XFS", r"_{0,2}(?:xfs_|xlog_)"),
        ("btrfs", r"_{0,2}btrfs_"),
        ("F2FS", r"_{0,2}f2fs_"),
        ("NFS", r"_{0,2}nfs[34]?_"),
        ("CIFS", r"_{0,2}(?:cifs|smb2)_"),
        ("FUSE", r"_{0,2}fuse_"),
        ("Ceph", r"_{0,2}ceph_"),
        ("9p", r"_{0,2}(?:v9fs|p9)_"),
        ("GFS2", r"_{0,2}gfs2_"),
        ("OCFS2", r"_{0,2}ocfs2_"),
        ("FAT", r"_{0,2}(?:fat|vfat|msdos)_"),
        ("exFAT", r"_{0,2}exfat_"),
        ("NTFS", r"_{0,2}(?:ntfs3?|ni|attr)_"),
        ("ZFS", r"_{0,2}(?:zfs|zpl|zio|txg|dmu|spa|zil|arc)_"),
        ("JFS", r"_{0,2}jfs_"),
        ("reiserfs", r"_{0,2}reiserfs_"),
        ("overlayfs", r"_{0,2}ovl_"),
        ("ext2", r"_{0,2}ext2_"),
    )
)
SERVED_FILESYSTEMS = ("NFS", "CIFS", "FUSE", "Ceph", "9p")  # no disk of this machine serves them
_FLUSHER = (
    "wb_workfn",
    "wb_do_writeback",
    "wb_writeback",
    "bdi_writeback_workfn",
    "bdi_writeback_thread",
    "bdi_writeback_task",
)
_THREAD_DISK = re.compile(
    r"(?:jbd2|flush|xfsaild|xfs-[a-z]{1,12}|xfs_[a-z_]{1,12}|dmcrypt_write|btrfs-[a-z]{1,12})[/-](?P<disk>[\w.!:-]{1,32})"
)
_KWORKER_DISK = re.compile(
    r"(?:(?:kworker/)?\S{1,16}[+-])?(?:(?:flush-)(?P<disk>[\w:.-]{1,24})|(?P<loop>loop\d{1,6})$)"
)
_JOURNAL_NUMBER = re.compile(r"-\d{0,10}$")  # a name of 15 letters may end before its number
_NEVER = ("\0",)
_LOOPS = ("loop_thread", "loop_workfn", "loop_process_work", "loop_queue_work")
_THREADS: tuple[tuple[Role, tuple[str, ...], tuple[str, ...]], ...] = (
    ("journal", ("kjournald2", "kjournald"), ("jbd2/", "kjournald")),
    ("reclaim", ("kswapd",), ("kswapd",)),
    ("log", ("xfsaild", "xlog_cil_push_work", "transaction_kthread"), _NEVER),
    ("disk", (*_LOOPS, "md_thread", "mmc_queue_thread"), _NEVER),
    ("disk", ("dmcrypt_write", "kcryptd_crypt", "kcryptd_io_read_work", "kcryptd_crypt_write_continue"), _NEVER),
    ("kernel", ("kthread", "ret_from_kernel_thread", "kernel_thread_helper"), ("kworker/",)),
)


def judged(task: Task) -> Judged:
    """Judge a task by its stack."""
    names = [frame.name for frame in task.frames]
    sure = [frame.name for frame in task.frames if frame.sure]
    call = _call(sure or names)
    role = _role(task, sure or names, call)
    call = call if role != "disk" else ""  # a loop's worker reads and writes its file as a program does
    return Judged(task, wait_of(task), call, _filesystem(sure or names), role, _disk(task, role))


def wait_of(task: Task) -> Wait:
    """Return what a task waits for, by the innermost function that is no part of the scheduler."""
    if task.runs:
        return Wait("", "for nothing: it was running or about to run", nature="runs")
    sure = [frame for frame in task.frames if frame.sure]
    rests_on_unsure = not any(frame.name not in SCHEDULER for frame in sure)
    frames = task.frames if rests_on_unsure else sure
    if task.source == "bare" and not task.state and not any(is_passed(frame.name) for frame in frames):
        return Wait(UNKNOWN, "for nothing that this text shows: its stack has no part of the scheduler")
    is_whole = task.source in {"/proc", "bare"} or bool(frames and is_passed(frames[0].name))
    frames = [frame for frame in frames if not frame.is_inlined or is_known(frame.name)]
    names, modules = [frame.name for frame in frames], [frame.module for frame in frames]
    return wait_in(names, modules, is_sure=is_whole and not rests_on_unsure)


def _call(names: Sequence[str]) -> str:
    """Return the call by which a task came into the kernel; the outermost function that says so counts."""
    for name in reversed(names):
        if (found := _CALL.fullmatch(name)) and found["name"] not in _NO_CALL:
            return found["name"].removesuffix("64").removesuffix("_nocancel")
        if name in _INTO:
            return _INTO[name]
    return ""


def _filesystem(names: Iterable[str]) -> str:
    """Return the filesystem whose function is innermost; that of a lower layer, such as below overlayfs."""
    for name in names:
        for filesystem, pattern in _FILESYSTEMS:
            if pattern.match(name):
                return filesystem
    return ""


def _role(task: Task, names: Sequence[str], call: str) -> Role:
    inside = frozenset(names)
    if inside.intersection(_FLUSHER) or task.comm.startswith("flush-"):
        return "flusher"
    if call and not inside.intersection(_LOOPS):
        return "program"
    for role, functions, comms in _THREADS:
        if inside.intersection(functions) or task.comm.startswith(comms):
            return role
    return "program"


def _disk(task: Task, role: Role) -> str:
    for said in (task.workqueue, task.comm):
        if found := _KWORKER_DISK.match(said):
            return found["disk"] or found["loop"]
    if found := _THREAD_DISK.match(task.comm):
        return _JOURNAL_NUMBER.sub("", found["disk"]) if role == "journal" else found["disk"]
    return ""
