import ctypes
import os
import signal
import socket
import struct
import time

import pytest

from wblab.core.child import fork_child
from wblab.core.syscalls import libc
from wblab.host.sandbox import seccomp
from wblab.host.sandbox.sandbox import drop_capabilities
from wblab.host.sandbox.seccomp import Bits, install, program

ALLOW, EPERM, ENOSYS, KILL = 0x7FFF0000, 0x00050001, 0x00050026, 0x80000000
X86_64 = 0xC000003E


def judged(steps, number, *arguments, architecture=X86_64):
    """Return a filter's result for a call, as the kernel would run it (Documentation/networking/filter.rst)."""
    data = struct.pack("<IIQ6Q", number, architecture, 0, *(*arguments, *[0] * (6 - len(arguments))))
    at = accumulator = 0
    while True:
        code, true, false, operand = steps[at]
        at += 1
        if code == 0x20:
            accumulator = struct.unpack_from("<I", data, operand)[0]
        elif code == 0x54:
            accumulator &= operand
        elif code in (0x15, 0x45):
            at += true if (accumulator == operand if code == 0x15 else accumulator & operand) else false
        else:
            assert code == 0x06
            return operand


def test_only_listed_calls_are_allowed():
    steps = program([0, 3, 60], {}, [435])
    assert {number: judged(steps, number) for number in (0, 1, 3, 60, 435)} == {
        0: ALLOW, 1: EPERM, 3: ALLOW, 60: ALLOW, 435: ENOSYS,
    }  # fmt: skip


def test_other_architectures_and_x32_calls_are_refused():
    steps = program([0], {})
    assert judged(steps, 0, architecture=0x40000003) == KILL
    assert judged(steps, 0x40000000) == ENOSYS


def test_one_alternative_must_hold_with_all_its_conditions():
    steps = program([7], {5: ((Bits(0, 0xFF, 1), Bits(2, 0xF0, 0x20)), (Bits(1, 0xFFFFFFFF, 9),))})
    assert judged(steps, 5, 0x101, 0, 0x2F) == ALLOW
    assert judged(steps, 5, 0x101, 0, 0x3F) == EPERM
    assert judged(steps, 5, 0, 9, 0) == ALLOW
    assert judged(steps, 5, 0, 9 + (7 << 32), 0) == ALLOW  # arguments that the kernel reads as 32 bits
    assert judged(steps, 5, 0, 8, 0) == EPERM
    assert judged(steps, 7) == ALLOW
    assert judged(steps, 6) == EPERM


KERNEL = program(seccomp.KERNEL.values(), seccomp.kernel_rules(1234), seccomp.UNKNOWN.values())
TOOL = program(seccomp.TOOL.values(), seccomp.TOOL_RULES, seccomp.UNKNOWN.values())
FORBIDDEN = {
    "chmod": 90, "fchmod": 91, "chown": 92, "fchown": 93, "lchown": 94, "utime": 132, "utimes": 235, "fchownat": 260,
    "fchmodat": 268, "futimesat": 261, "utimensat": 280, "fchmodat2": 452, "setxattr": 188, "lsetxattr": 189,
    "fsetxattr": 190, "removexattr": 197, "mknod": 133, "mknodat": 259, "link": 86, "linkat": 265, "symlink": 88,
    "symlinkat": 266, "mount": 165, "umount2": 166, "pivot_root": 155, "chroot": 161, "unshare": 272, "setns": 308,
    "open_tree": 428, "move_mount": 429, "fsopen": 430, "mount_setattr": 442, "socket": 41, "connect": 42, "bind": 49,
    "listen": 50, "sendto": 44, "ptrace": 101, "process_vm_readv": 310, "process_vm_writev": 311, "pidfd_open": 434,
    "pidfd_getfd": 438, "pidfd_send_signal": 424, "rt_sigqueueinfo": 129, "setpriority": 141, "ioprio_set": 251,
    "sched_setaffinity": 203, "sched_setscheduler": 144, "setuid": 105, "setgid": 106, "setgroups": 116,
    "setresuid": 117, "capset": 126, "reboot": 169,
    "bpf": 321, "perf_event_open": 298, "userfaultfd": 323, "io_uring_setup": 425,
    "keyctl": 250, "add_key": 248, "kexec_load": 246, "init_module": 175, "open_by_handle_at": 304, "creat": 85,
    "shmget": 29, "msgget": 68, "mq_open": 240, "inotify_init": 253, "fanotify_init": 300, "swapon": 167, "acct": 163,
    "settimeofday": 164, "clock_settime": 227, "sethostname": 170, "quotactl": 179, "name_to_handle_at": 303,
}  # fmt: skip


@pytest.mark.parametrize("name", FORBIDDEN)
def test_calls_that_affect_other_processes_are_refused(name):
    assert judged(KERNEL, FORBIDDEN[name]) == EPERM
    assert judged(TOOL, FORBIDDEN[name]) == EPERM


def test_calls_are_refused_by_their_arguments():
    openat, clone, prlimit, personality, ioctl, fcntl, socketpair, prctl = 257, 56, 302, 135, 16, 72, 53, 157
    assert judged(KERNEL, openat, 0, 0, os.O_RDONLY, 0o7777) == ALLOW  # no mode is given
    assert judged(KERNEL, openat, 0, 0, os.O_CREAT | os.O_WRONLY, 0o644) == ALLOW
    assert judged(KERNEL, openat, 0, 0, os.O_CREAT | os.O_WRONLY, 0o4755) == EPERM
    assert judged(KERNEL, openat, 0, 0, os.O_TMPFILE | os.O_RDWR, 0o2755) == EPERM
    assert judged(KERNEL, 2, 0, os.O_CREAT, 0o6755) == EPERM
    assert judged(KERNEL, openat, 0, 0, os.O_RDONLY | os.O_TRUNC) == EPERM  # it truncates in any case
    assert judged(KERNEL, openat, 0, 0, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o644) == EPERM
    assert judged(KERNEL, 2, 0, os.O_RDONLY | os.O_TRUNC) == EPERM
    for mode, answer in ((0o777, ALLOW), (0o700, ALLOW), (0o077, EPERM), (0, EPERM), (0o2777, EPERM)):
        assert judged(KERNEL, 83, 0, mode) == judged(KERNEL, 258, 0, 0, mode) == answer
    assert judged(KERNEL, clone, signal.SIGCHLD) == ALLOW
    for flag in (0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000):
        assert judged(KERNEL, clone, flag | signal.SIGCHLD) == EPERM
    assert judged(KERNEL, prlimit, 0) == ALLOW
    assert judged(KERNEL, prlimit, 1) == EPERM
    assert judged(KERNEL, personality, 0x0040000) == ALLOW
    assert judged(KERNEL, personality, 0x0400000) == EPERM  # READ_IMPLIES_EXEC
    for filtered in (KERNEL, TOOL):
        assert judged(filtered, prctl, 1, signal.SIGKILL) == ALLOW
        assert judged(filtered, prctl, 1, 0) == judged(filtered, prctl, 1, signal.SIGTERM) == EPERM  # PR_SET_PDEATHSIG
        assert judged(filtered, prctl, 4, 0) == EPERM  # PR_SET_DUMPABLE
        assert judged(filtered, prctl, 36, 1) == EPERM  # PR_SET_CHILD_SUBREAPER: orphans would escape the reaper
        assert judged(filtered, prctl, 15) == judged(filtered, prctl, 38, 1) == ALLOW
    assert judged(KERNEL, ioctl, 0, 0x5401) == ALLOW
    assert judged(KERNEL, ioctl, 0, 0x5412) == EPERM  # TIOCSTI
    assert judged(KERNEL, fcntl, 0, 8, 1234) == ALLOW
    assert judged(KERNEL, fcntl, 0, 8, 4321) == EPERM  # SIGIO for another process
    assert judged(KERNEL, 297, 1234) == ALLOW  # rt_tgsigqueueinfo
    assert judged(KERNEL, 297, 4321) == judged(TOOL, 297, 1234) == EPERM
    for flags in (0, socket.SOCK_CLOEXEC, socket.SOCK_CLOEXEC | socket.SOCK_NONBLOCK):
        assert judged(KERNEL, socketpair, socket.AF_UNIX, socket.SOCK_STREAM | flags) == ALLOW
        assert judged(KERNEL, socketpair, socket.AF_UNIX, socket.SOCK_DGRAM | flags) == EPERM
    assert judged(KERNEL, socketpair, socket.AF_UNIX, socket.SOCK_RAW) == EPERM  # datagrams, too
    assert judged(KERNEL, socketpair, socket.AF_UNIX, socket.SOCK_SEQPACKET) == EPERM
    assert judged(KERNEL, socketpair, socket.AF_UNIX, socket.SOCK_STREAM | 1 << 8) == EPERM
    assert judged(KERNEL, socketpair, socket.AF_INET, socket.SOCK_STREAM) == EPERM


def test_every_jump_is_within_the_filter():
    for steps in (KERNEL, TOOL):
        assert len(steps) < 4096
        assert all(true < 256 and false < 256 for _, true, false, _ in steps)


def test_the_hosts_kernel_enforces_it(tmp_path):
    """A real process under the real filter: allowed calls work, others fail, and nothing is killed."""
    (tmp_path / "file").write_text("text")
    before = os.stat(tmp_path / "file")

    def task():
        drop_capabilities()
        install(program(seccomp.KERNEL.values(), seccomp.kernel_rules(os.getpid()), seccomp.UNKNOWN.values()))
        assert (tmp_path / "file").read_text() == "text"
        for refused in (
            lambda: os.chmod(tmp_path / "file", 0o777),
            lambda: os.chown(tmp_path / "file", os.getuid(), os.getgid()),
            lambda: os.utime(tmp_path / "file"),
            lambda: os.setxattr(tmp_path / "file", "user.x", b"1"),
            lambda: os.symlink("file", tmp_path / "link"),
            lambda: os.link(tmp_path / "file", tmp_path / "link"),
            lambda: os.mkfifo(tmp_path / "fifo"),
            lambda: os.open(tmp_path / "setuid", os.O_CREAT | os.O_WRONLY, 0o4755),
            lambda: socket.socket(socket.AF_UNIX),
            lambda: os.nice(1),
            lambda: os.sched_setaffinity(0, {0}),
            lambda: os.setpriority(os.PRIO_PROCESS, 0, 5),
        ):
            with pytest.raises(PermissionError):
                refused()
        assert libc.ptrace(0, 0, ctypes.c_void_p(0), ctypes.c_void_p(0)) == -1
        near, _ = socket.socketpair()
        near.close()
        pid = fork_child(lambda: time.sleep(60))
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)

    assert os.waitpid(fork_child(task), 0)[1] == 0
    after = os.stat(tmp_path / "file")
    assert (after.st_mode, after.st_mtime_ns, after.st_nlink) == (before.st_mode, before.st_mtime_ns, 1)
    assert os.listdir(tmp_path) == ["file"]
