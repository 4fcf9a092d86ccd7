"""seccomp: a process gives up all system calls of the host but those on a list.

A call that is refused fails with EPERM. That is weaker than the trap with which User Mode Linux catches the calls of
its guest's programs (SECCOMP_RET_TRAP), so that the two filters do not meet; see seccomp(2).
Source: Documentation/userspace-api/seccomp_filter.rst, include/uapi/linux/{bpf_common,filter,seccomp}.h.
"""

import ctypes
import errno
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from wblab.core.syscalls import checked, libc

_SYS_SECCOMP, _SET_MODE_FILTER = 317, 1
_SPEC_ALLOW = 1 << 2  # no slower by mitigations that older kernels switch on for whoever uses seccomp
_AUDIT_ARCH_X86_64 = 0xC000003E
_X32 = 0x40000000  # the bit in the numbers of a second set of calls, which is not known here

_LOAD, _JUMP_EQUAL, _JUMP_SET, _AND, _RETURN = 0x20, 0x15, 0x45, 0x54, 0x06
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16  # offsets in struct seccomp_data
_KILL, _ERRNO, _ALLOW = 0x80000000, 0x00050000, 0x7FFF0000
_REFUSE, _UNKNOWN = _ERRNO | errno.EPERM, _ERRNO | errno.ENOSYS


@dataclass(frozen=True)
class Bits:
    """A condition: the `mask` of an argument (0 to 5; its lower 32 bits) is `value`."""

    argument: int
    mask: int
    value: int


# By a call's number, the alternatives of which one must hold; each is a tuple of conditions that must hold together.
Rules = Mapping[int, tuple[tuple[Bits, ...], ...]]


class _Instruction(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint16), ("jt", ctypes.c_uint8), ("jf", ctypes.c_uint8), ("k", ctypes.c_uint32))


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_uint16), ("filter", ctypes.POINTER(_Instruction)))


Step = tuple[int, int, int, int]


def program(allowed: Iterable[int], rules: Rules, unknown: Collection[int] = ()) -> list[Step]:
    """Return the filter as (code, jump if true, jump if false, operand).

    Calls are looked up in the order of `allowed`: the most frequent ones first. `unknown` calls fail with ENOSYS, as on
    an older kernel, so that the C library tries another one.
    """
    steps: list[Step] = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_JUMP_EQUAL, 1, 0, _AUDIT_ARCH_X86_64),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER),
        (_JUMP_SET, 0, 1, _X32),
        (_RETURN, 0, 0, _UNKNOWN),
    ]
    for number in allowed:
        steps += [(_JUMP_EQUAL, 0, 1, number), (_RETURN, 0, 0, _ALLOW)]
    for number in unknown:
        steps += [(_JUMP_EQUAL, 0, 1, number), (_RETURN, 0, 0, _UNKNOWN)]
    for number in sorted(rules):
        block = [step for alternative in rules[number] for step in _alternative(alternative)]
        steps += [(_JUMP_EQUAL, 0, len(block) + 1, number), *block, (_RETURN, 0, 0, _REFUSE)]
    return [*steps, (_RETURN, 0, 0, _REFUSE)]


def _alternative(conditions: tuple[Bits, ...]) -> list[Step]:
    """Return steps that allow the call if all conditions hold, and else go on behind them."""
    steps: list[Step] = []
    left = 3 * len(conditions) + 1  # steps from here to behind the last one
    for bits in conditions:
        steps += [
            (_LOAD, 0, 0, _ARGUMENTS + 8 * bits.argument),
            (_AND, 0, 0, bits.mask),
            (_JUMP_EQUAL, 0, left - 3, bits.value),
        ]
        left -= 3
    return [*steps, (_RETURN, 0, 0, _ALLOW)]


def install(steps: list[Step]) -> None:
    """Filter the calls of this thread and its children from now on. no_new_privs must be set. Raises OSError."""
    instructions = (_Instruction * len(steps))(*(_Instruction(*step) for step in steps))
    filtered = _Program(len(steps), instructions)
    checked(libc.syscall(_SYS_SECCOMP, _SET_MODE_FILTER, _SPEC_ALLOW, ctypes.byref(filtered)), "seccomp")


# The system calls of the host that a guest's kernel may make, and those of a tool such as mke2fs.
#
# Found by tracing (`strace -f wblab run`; tests/uml/test_calls.py compares), in all series, clocks and modes; and
# beside
# each call those that another C library makes in its place. Numbers: arch/x86/entry/syscalls/syscall_64.tbl.

# Each system call of the guest is looked up here too, when it is caught: those of its loads come first.
_FREQUENT = {
    "write": 1,
    "futex": 202,
    "rt_sigreturn": 15,
    "recvmsg": 47,
    "sendmsg": 46,
    "read": 0,
    "close": 3,
    "mmap": 9,
}
_EXECUTE = {"execve": 59, "execveat": 322}  # what may be executed, Landlock says
_MEMORY = {
    "mprotect": 10, "munmap": 11, "brk": 12, "mremap": 25, "msync": 26, "madvise": 28,
    "mlock": 149, "munlock": 150, "memfd_create": 319,
}  # fmt: skip
_FILES = {
    "stat": 4, "fstat": 5, "lstat": 6, "lseek": 8, "pread64": 17, "pwrite64": 18,
    "readv": 19, "writev": 20, "access": 21, "dup": 32, "dup2": 33, "fsync": 74, "fdatasync": 75,
    "ftruncate": 77, "getcwd": 79, "rename": 82, "rmdir": 84, "unlink": 87, "readlink": 89,
    "statfs": 137, "fstatfs": 138, "getdents64": 217, "fadvise64": 221, "newfstatat": 262,
    "unlinkat": 263, "renameat": 264, "readlinkat": 267, "faccessat": 269, "fallocate": 285, "dup3": 292,
    "preadv": 295, "pwritev": 296, "renameat2": 316, "statx": 332, "faccessat2": 439,
}  # fmt: skip
_WAITING = {
    "poll": 7, "select": 23, "nanosleep": 35, "getitimer": 36, "setitimer": 38, "alarm": 37, "gettimeofday": 96,
    "time": 201, "timer_create": 222, "timer_settime": 223, "timer_gettime": 224, "timer_getoverrun": 225,
    "timer_delete": 226, "clock_gettime": 228, "clock_getres": 229, "clock_nanosleep": 230, "pselect6": 270,
    "ppoll": 271,
}  # fmt: skip
_PROCESS = {
    "rt_sigaction": 13, "rt_sigprocmask": 14, "getpid": 39, "exit": 60, "wait4": 61, "uname": 63,
    "getrlimit": 97, "getrusage": 98, "sysinfo": 99, "times": 100, "getuid": 102, "getgid": 104, "geteuid": 107,
    "getegid": 108, "getppid": 110, "rt_sigpending": 127, "rt_sigtimedwait": 128, "rt_sigsuspend": 130,
    "sigaltstack": 131, "arch_prctl": 158, "gettid": 186, "tkill": 200, "sched_getaffinity": 204,
    "set_tid_address": 218, "restart_syscall": 219, "exit_group": 231, "tgkill": 234, "waitid": 247,
    "set_robust_list": 273, "get_robust_list": 274, "getcpu": 309, "getrandom": 318, "membarrier": 324, "rseq": 334,
}  # fmt: skip
# Landlock says whom a signal may reach. Sockets: only pairs, through which the kernel hands memory to its processes.
# Of streams: one of a pair of datagram sockets sends to any other by its path (unix(7)), and Landlock has no say there.
_KERNEL = {
    "sched_yield": 24, "pause": 34, "vfork": 58, "kill": 62, "setsid": 112,
    "epoll_create": 213, "epoll_wait": 232, "epoll_ctl": 233, "epoll_pwait": 281, "signalfd": 282, "eventfd": 284,
    "signalfd4": 289, "eventfd2": 290, "epoll_create1": 291, "pipe": 22, "pipe2": 293, "seccomp": 317,
    "close_range": 436,
    "mincore": 27,  # of its own memory, by Linux 6.1.0 to 6.11
}  # fmt: skip

KERNEL = _FREQUENT | _EXECUTE | _MEMORY | _FILES | _WAITING | _PROCESS | _KERNEL
TOOL = {name: _FREQUENT[name] for name in ("read", "write", "close", "mmap", "futex", "rt_sigreturn")}
TOOL |= _EXECUTE | _MEMORY | _FILES | _WAITING | _PROCESS
TRUNCATE = {"truncate": 76}  # by a path: only where Landlock says of which files
PTRACE = {"ptrace": 101}  # for guests without seccomp mode; Landlock lets it reach own children only
# Whose arguments no filter can see. The C library uses the older call where these are not known.
UNKNOWN = {"openat2": 437, "clone3": 435}

_SOCKETPAIR, _CLONE, _FCNTL, _PERSONALITY, _PRLIMIT, _IOCTL, _OPEN, _OPENAT = 53, 56, 72, 135, 302, 16, 2, 257
_MKDIR, _MKDIRAT, _PRCTL, _RT_TGSIGQUEUEINFO = 83, 258, 157, 297
_NAMESPACES = 0x7E020000  # CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET
_CREATES = 0o100 | 0o20000000  # O_CREAT and O_TMPFILE without O_DIRECTORY: the mode counts
_TRUNCATES = 0o1000  # O_TRUNC, which needs no right to write, and which Landlock knows since version 3
_SPECIAL_MODE = 0o7000  # set-user-ID, set-group-ID, sticky
_OWNERS_MODE = 0o700  # a directory that its owner could not remove
# PR_GET_DUMPABLE, PR_SET_NAME, PR_GET_NAME, PR_SET_TSC, PR_SET_NO_NEW_PRIVS; PR_SET_PDEATHSIG to SIGKILL only, so that
# nobody outlives its parent by taking it back; not PR_SET_DUMPABLE, which would hide from us what a process holds.
_PRCTLS = (3, 15, 16, 26, 38)
_PR_SET_PDEATHSIG, _SIGKILL = 1, 9
_AF_UNIX, _SOCK_STREAM, _SOCK_FLAGS = 1, 1, 0o2004000  # SOCK_CLOEXEC and SOCK_NONBLOCK
_NO_RANDOM_ADDRESSES, _ASK_PERSONALITY = 0x0040000, 0xFFFFFFFF
_ALL = 0xFFFFFFFF
# F_DUPFD to F_SETLKW, F_GETOWN to F_GETSIG, F_DUPFD_CLOEXEC, F_ADD_SEALS, F_GET_SEALS; F_SETOWN only to itself.
_FCNTLS = (*range(8), 9, 10, 11, 1030, 1033, 1034)
_F_SETOWN = 8
# TCGETS, TCSETS, TCSETSW, TCSETSF, TIOCGWINSZ, FIONREAD; not TIOCSTI, which types into a terminal.
_TERMINAL_IOCTLS = (0x5401, 0x5402, 0x5403, 0x5404, 0x5413, 0x541B)
# BLKROGET, BLKGETSIZE, BLKFLSBUF, BLKSSZGET, BLKDISCARD, BLKGETSIZE64, BLKIOMIN, BLKIOOPT, BLKALIGNOFF, BLKPBSZGET,
# BLKDISCARDZEROES, BLKZEROOUT, HDIO_GETGEO, FS_IOC_FSGETXATTR
_BLOCK_IOCTLS = (
    *(0x125E, 0x1260, 0x1261, 0x1268, 0x1277, 0x80081272, 0x1278, 0x1279, 0x127A, 0x127B, 0x127C, 0x127F),
    *(0x0301, 0x801C581F),
)


def _one_of(argument: int, values: tuple[int, ...]) -> tuple[tuple[Bits, ...], ...]:
    return tuple((Bits(argument, _ALL, value),) for value in values)


_RULES = {
    _OPEN: ((Bits(1, _CREATES | _TRUNCATES, 0),), (Bits(1, _TRUNCATES, 0), Bits(2, _SPECIAL_MODE, 0))),
    _OPENAT: ((Bits(2, _CREATES | _TRUNCATES, 0),), (Bits(2, _TRUNCATES, 0), Bits(3, _SPECIAL_MODE, 0))),
    _MKDIR: ((Bits(1, _SPECIAL_MODE | _OWNERS_MODE, _OWNERS_MODE),),),
    _MKDIRAT: ((Bits(2, _SPECIAL_MODE | _OWNERS_MODE, _OWNERS_MODE),),),
    _PRLIMIT: ((Bits(0, _ALL, 0),),),  # its own limits
    _PERSONALITY: _one_of(0, (_NO_RANDOM_ADDRESSES, _ASK_PERSONALITY)),
    _CLONE: ((Bits(0, _NAMESPACES, 0),),),
    _PRCTL: (*_one_of(0, _PRCTLS), (Bits(0, _ALL, _PR_SET_PDEATHSIG), Bits(1, _ALL, _SIGKILL))),
}
TOOL_RULES = _RULES | {_IOCTL: _one_of(1, _TERMINAL_IOCTLS + _BLOCK_IOCTLS), _FCNTL: _one_of(1, _FCNTLS)}


def kernel_rules(pid: int) -> Rules:
    """Return the rules for the guest's kernel, which is or will be the process `pid`."""
    own = (Bits(1, _ALL, _F_SETOWN), Bits(2, _ALL, pid))  # the one who gets SIGIO
    return _RULES | {
        _IOCTL: _one_of(1, _TERMINAL_IOCTLS),
        _FCNTL: (*_one_of(1, _FCNTLS), own),
        _RT_TGSIGQUEUEINFO: ((Bits(0, _ALL, pid),),),  # its own threads: its processors wake each other
        _SOCKETPAIR: ((Bits(0, _ALL, _AF_UNIX), Bits(1, _ALL & ~_SOCK_FLAGS, _SOCK_STREAM)),),
    }
