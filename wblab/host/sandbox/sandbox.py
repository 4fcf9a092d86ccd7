"""A sandbox as data, and the way into it."""

import os
from collections.abc import Sequence
from dataclasses import dataclass

from wblab.host.sandbox import calls, landlock, rights, seccomp
from wblab.host.sandbox.landlock import Grant

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
        rights.die_first()
        rights.limit_files(self.largest_file_bytes)
        rights.drop_capabilities()
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
