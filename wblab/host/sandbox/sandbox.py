"""A sandbox as data, and the way into it."""

import ctypes
import os
import resource
import struct
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from wblab.core.syscalls import checked, libc
from wblab.host.sandbox import landlock, seccomp
from wblab.host.sandbox import seccomp as calls
from wblab.host.sandbox.landlock import Grant

# Which loader an executable needs, which is executed with it. Source: elf(5).

_PT_INTERP = 3


def loader(path: Path | str) -> str | None:
    """Return the loader's path that a 64-bit ELF file names; None for a static one, or what is no such file."""
    try:
        with Path(path).open("rb") as file:
            header = file.read(64)
            if header[:6] != b"\x7fELF\x02\x01" or len(header) < 64:
                return None
            offset, size, count = struct.unpack_from("<Q14xHH", header, 32)
            for number in range(count):
                file.seek(offset + number * size)
                kind, _, start, _, _, length = struct.unpack("<IIQQQQ", file.read(40))
                if kind == _PT_INTERP:
                    file.seek(start)
                    return file.read(min(length, 4096)).rstrip(b"\0").decode(errors="surrogateescape")
    except (OSError, ValueError, struct.error):
        pass
    return None


# The rights of a process that is root, and its limits: what it gives up for good. See capabilities(7).

_PR_CAPBSET_READ, _PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS = 23, 24, 38
_VERSION_3 = 0x20080522  # of struct __user_cap_header_struct: three sets of 64 bits


class _Header(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


def drop_capabilities() -> None:
    """Give up all capabilities, and that a program which is executed could have more. Raises OSError."""
    capability = 0
    while libc.prctl(_PR_CAPBSET_READ, capability, 0, 0, 0) >= 0:
        libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)  # fails for an ordinary user, who has none
        capability += 1
    checked(libc.prctl(_PR_SET_NO_NEW_PRIVS, ctypes.c_ulong(1), 0, 0, 0))
    header, none = _Header(_VERSION_3, 0), (ctypes.c_uint32 * 6)()
    checked(libc.capset(ctypes.byref(header), none), "capset")


def limit_files(largest_bytes: int) -> None:
    """Bound the size of any file that is written, and leave no core file. Raises OSError."""
    for number, wanted in ((resource.RLIMIT_FSIZE, largest_bytes), (resource.RLIMIT_CORE, 0)):
        _, hard = resource.getrlimit(number)
        bound = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(number, (bound, bound))


def die_first() -> None:
    """Be the one that the host's kernel ends when it is out of memory; see proc(5), oom_score_adj."""
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")


# Programs and libraries of any distribution; nothing in there is anybody's own.
DISTRIBUTION = ("/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin", "/nix/store", "/gnu/store", "/etc/ld.so.cache")
# The kernel under User Mode Linux asks these at its start.
_MACHINE = ("/proc/cpuinfo", "/proc/mounts")


@dataclass(frozen=True)
class Sandbox:
    """What a process may still do. All paths are the host's; those that do not exist are left out.

    runs: files and directories of which programs may be executed. reads: what may be read besides. keeps: directories
    in which regular files may be made, changed and removed. owns: the same, and directories. largest_file_bytes: no
    file may grow larger. calls: the list of system calls, `kernel`, `kernel with ptrace` or `tool`; "" for all.
    """

    runs: Sequence[str] = ()
    reads: Sequence[str] = ()
    keeps: Sequence[str] = ()
    owns: Sequence[str] = ()
    largest_file_bytes: int = 1 << 32
    calls: str = "kernel"

    def enter(self) -> None:
        """Confine this process and its children, for good. Raises OSError."""
        die_first()
        limit_files(self.largest_file_bytes)
        drop_capabilities()
        version = landlock.restrict(self._grants())
        if self.calls == "tool":
            seccomp.install(seccomp.program(calls.TOOL.values(), calls.TOOL_RULES, calls.UNKNOWN.values()))
        elif self.calls:
            allowed = calls.KERNEL | (calls.PTRACE if "ptrace" in self.calls else {})
            allowed |= calls.TRUNCATE if version >= landlock.KNOWS_TRUNCATION else {}
            rules = calls.kernel_rules(os.getpid())
            seccomp.install(seccomp.program(allowed.values(), rules, calls.UNKNOWN.values()))

    def _grants(self) -> list[Grant]:
        wanted = (
            (self.runs, landlock.RUN | landlock.LIST),
            ((*self.reads, *_MACHINE), landlock.READ),
            (self.keeps, landlock.KEEP),
            (self.owns, landlock.OWN),
            ((os.devnull,), landlock.USE),
        )
        return [Grant(path, rights) for paths, rights in wanted for path in paths if os.path.exists(path)]
