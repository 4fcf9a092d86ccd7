"""The machine that makes runs: facts that a run depends on, whose turn it is, and a processor for each guest."""

import errno
import fcntl
import os
import platform
import re
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from wblab.core.spec import ClockMode
from wblab.host.sandbox import landlock_version
from wblab.kernels import facts
from wblab.lab.distributions import os_release
from wblab.lab.packages import tool_path

_CPUINFO = Path("/proc/cpuinfo")
# Programs that decide a run, how they are asked for their versions, and a word of the line that says it.
_TOOLS = (
    *(("trace-cmd", "--version", "version"), ("mke2fs", "-V", "mke2fs"), ("mkfs.xfs", "-V", "version")),
    *(("mkfs.btrfs", "-V", "btrfs"), ("mkfs.f2fs", "-V", "mkfs.f2fs"), ("mkfs.vfat", "--help", "mkfs.fat")),
    ("mkfs.exfat", "-V", "version"),
)


def shared_memory() -> Path:
    """Return the tmpfs that holds the guest's memory and scratch files: $WBLAB_SHM, or /dev/shm."""
    return Path(os.environ.get("WBLAB_SHM", "/dev/shm"))


def processors() -> int:
    """Return how many processors we may run on: of so many guests at a time, each keeps one busy."""
    return len(os.sched_getaffinity(0))


def free_shared_bytes() -> int:
    """Return the room on that tmpfs. Raises OSError where it does not exist."""
    stats = os.statvfs(shared_memory())
    return stats.f_bavail * stats.f_frsize


def available_memory_bytes() -> int:
    """Return MemAvailable of /proc/meminfo."""
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return 0


def distribution() -> str:
    """Return what the distribution calls itself; see os-release(5)."""
    return os_release().get("PRETTY_NAME", "Linux")


def processor_flags(cpuinfo: Path = _CPUINFO) -> set[str]:
    """Return what the processor can do, in the words of /proc/cpuinfo."""
    found = re.search(r"^flags\s*:(.*)", cpuinfo.read_text(), re.MULTILINE)
    return set(found[1].split()) if found else set()


def hides_processor() -> bool:
    """Return whether the processor can fault the instruction that tells what it is; see arch_prctl(2)."""
    return "cpuid_fault" in processor_flags()


def describe_host() -> dict[str, object]:
    """Return what the record of a run says of the machine that ran it."""
    return {
        "cpu": _cpu(),
        "cores": processors(),
        "uname": " ".join((platform.system(), platform.release(), platform.machine())),
        "python": platform.python_version(),
        "tools": tool_versions(),
        "landlock": landlock_version(),
    }


def tool_versions() -> dict[str, str]:
    """Return what trace-cmd and the makers of filesystems say of their versions; a missing tool is left out."""
    paths = {name: path for name, _, _ in _TOOLS if (path := tool_path(name))}

    def find() -> tuple[dict[str, str], list[str]]:
        said = {name: _version([paths[name], option], word) for name, option, word in _TOOLS if name in paths}
        return said, list(paths.values())

    return dict(facts.fact(f"versions of {paths}", find))


def _version(command: list[str], word: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = [line for line in (done.stdout + done.stderr).splitlines() if word in line]
    return lines[0].strip() if lines else "unknown"


def _cpu() -> str:
    for line in _CPUINFO.read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


# A lock: runs in virtual time share the machine, a run in real time is alone.
#
# Other runs would take processor time from a guest that keeps the host's clock, and so make pauses of their own in it.

_LOOK_S = 0.2
_LONGEST_NAME = 100  # sun_path has 108 bytes


@contextmanager
def machine_lock(mode: ClockMode, waiting: Callable[[], object]) -> Iterator[None]:
    """Hold this machine for a run, together with others in virtual time, or alone in real time.

    Until it is free, `waiting` is called several times a second, and may raise to give up. All matrices of all users
    take their turns: what is locked (flock(2)) is the directory that every guest needs, so that no file is left. Only
    one waits at the lock, all others at a door before it (the name of an abstract socket, unix(7)): runs that share
    the machine would for ever overlap, and keep one out that wants it alone.
    """
    how = fcntl.LOCK_EX if mode == "real" else fcntl.LOCK_SH
    descriptor = os.open(shared_memory(), os.O_RDONLY | os.O_DIRECTORY)
    try:
        with socket.socket(socket.AF_UNIX) as door:
            while not _taken(door):
                waiting()
                time.sleep(_LOOK_S)
            while not _locked(descriptor, how):
                waiting()
                time.sleep(_LOOK_S)
        yield
    finally:
        os.close(descriptor)


def _taken(door: socket.socket) -> bool:
    try:
        door.bind((b"\0wblab turn " + os.fsencode(shared_memory().resolve()))[:_LONGEST_NAME])
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
        return False
    return True


def _locked(descriptor: int, how: int) -> bool:
    try:
        fcntl.flock(descriptor, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


# One processor for one guest: in virtual time a guest and its processes take turns and never run side by side.
#
# On one processor they hand over without waking another, which a scheduler that knows nothing of this would do at
# every system call of the guest. The threads of an emulator have to take turns, or else its runs do not repeat.


@dataclass(frozen=True)
class ProcessorClaim:
    """A processor that is ours among the lab's guests for as long as the claim is held, or None if all are taken."""

    processor: int | None
    held: socket.socket


def claim_processor(*, shared: bool = False) -> ProcessorClaim:
    """Claim one of the processors that we may run on. shared: if all are taken, one that another guest has.

    A claim is a bound socket of the abstract namespace (unix(7)): nothing is left of it when its holder dies.
    """
    held = socket.socket(socket.AF_UNIX)
    for processor in sorted(os.sched_getaffinity(0), reverse=True):  # the host's own interrupts favour the first
        try:
            held.bind(f"\0wblab-processor-{processor}")
        except OSError:
            continue
        return ProcessorClaim(processor, held)
    return ProcessorClaim(min(os.sched_getaffinity(0)) if shared else None, held)
