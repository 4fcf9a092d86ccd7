"""Checks of the machine: what the lab needs, whether it is there, and what to do when it is not."""

import ctypes
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from wblab.core.errors import WblabError
from wblab.host import hostkernel
from wblab.host.command import interpreter
from wblab.host.machine import available_memory_bytes, free_shared_bytes, processor_flags, shared_memory, tool_versions
from wblab.host.sandbox import landlock_version
from wblab.kernels import Kernel, Listed, carry, catalog, list_kernels
from wblab.kernels.wanted import find_kernel
from wblab.lab import extras
from wblab.lab.cache import home
from wblab.lab.kernelname import VARIANT
from wblab.lab.packages import advice, missing_packages, only_build, own_names
from wblab.machine.block import mounted
from wblab.machine.cgroup import cgroup_root, controllers_of

_PTRACE_SCOPE = Path("/proc/sys/kernel/yama/ptrace_scope")
_PTRACE_SCOPE_NONE = 3  # Documentation/admin-guide/LSM/Yama.rst: no attach, PTRACE_TRACEME neither
_BASE_MEMORY = 350 << 20  # memory, disk and room to spare of the base experiment
_BUILD_ROOM = 3 << 30  # a kernel's source and its objects while it is built

_PR_GET_SECCOMP, _PR_SET_NO_NEW_PRIVS = 21, 38
_SECCOMP_GET_ACTION_AVAIL, _SYS_SECCOMP, _SECCOMP_RET_TRAP = 2, 317, 0x00030000


@dataclass(frozen=True)
class Check:
    """One check: what was looked at, whether it is good, what was found, and what to do if it is not.

    needed: by every run; else only by some verbs.
    """

    check: str
    good: bool
    found: str
    advice: str = ""
    needed: bool = True

    def to_json(self) -> dict[str, object]:
        """Return the finding as a JSON object."""
        return asdict(self)


def examine() -> list[Check]:
    """Run every check."""
    kernel, missing = built(), missing_packages()
    return [
        check_python(),
        check_guest_python(),
        check_packages(missing, has_kernel=kernel.good),
        check_ptrace(),
        check_seccomp(),
        check_landlock(),
        check_addresses(are_fixed=hostkernel.addresses_are_fixed()),
        check_shared_memory(),
        check_executable(),
        check_execution(is_allowed=hostkernel.memory_is_executable()),
        check_memory(available_memory_bytes()),
        check_cache(has_kernel=kernel.good),
        *([check_compiler(missing)] if kernel.good else []),
        *abilities(kernel),
    ]


def bad(findings: Sequence[Check]) -> list[Check]:
    """Return what keeps the lab from running here."""
    return [finding for finding in findings if finding.needed and not finding.good]


def next_command(findings: Sequence[Check]) -> str:
    """Return what to type next: to build a kernel, or with one to make a run."""
    return next((finding.advice for finding in findings if finding.check == KERNEL and finding.advice), _RUN)


def check_python() -> Check:
    """Look at the version of this Python."""
    version = ".".join(map(str, sys.version_info[:3]))
    return Check("Python", sys.version_info >= (3, 11), version, "install Python 3.11 or later")


def check_guest_python(find: Callable[[], str] = interpreter) -> Check:
    """Look for the Python that guests run."""
    try:
        return Check("Python of the guest", True, find())
    except WblabError as error:
        return Check("Python of the guest", False, str(error), "install python3")


def check_packages(missing: Sequence[str], *, has_kernel: bool) -> Check:
    """Look for what runs call; and, without a kernel, for what builds one. missing: packages, by Debian's names."""
    needed = [package for package in missing if not (has_kernel and only_build([package]))]
    return Check("packages", not needed, ", ".join(own_names(needed)) or "all installed", advice(needed))


def check_compiler(missing: Sequence[str]) -> Check:
    """Look for what builds kernels, where there is one. missing: packages, by Debian's names."""
    needed = [package for package in missing if only_build([package])]
    found = f"{', '.join(own_names(needed)) or 'all installed'}: to build other kernels"
    return Check("packages of builds", not needed, found, advice(needed), needed=False)


def check_ptrace(setting: Path = _PTRACE_SCOPE) -> Check:
    """Look whether Yama forbids all tracing. setting: the file of its sysctl, which kernels without it lack."""
    try:
        scope = int(setting.read_text())
    except OSError:
        return Check("ptrace", True, "no Yama")
    return Check(
        "ptrace",
        scope < _PTRACE_SCOPE_NONE,
        f"kernel.yama.ptrace_scope = {scope}",
        "sysctl kernel.yama.ptrace_scope=1; without ptrace only kernels with seccomp mode run",
    )


def check_seccomp() -> Check:
    """Ask whether a filter may trap system calls, which is what UML does with one; see seccomp(2)."""
    action = ctypes.c_uint32(_SECCOMP_RET_TRAP)
    result = ctypes.CDLL(None).syscall(_SYS_SECCOMP, _SECCOMP_GET_ACTION_AVAIL, 0, ctypes.byref(action))
    found = "filters can trap" if result == 0 else "filters cannot trap"
    return Check("seccomp", result == 0, found, "guests use ptrace instead, at about half the speed")


def check_landlock() -> Check:
    """Look for the version of Landlock, which confines guests."""
    version = landlock_version()
    found = f"version {version}" if version else "none"
    advice = "boot with lsm=landlock,… or a kernel that has it; without it only the guest's kernel protects your files"
    return Check("Landlock", version > 0, found, advice)


def check_addresses(*, are_fixed: bool) -> Check:
    """Say whether programs get the same addresses in each run."""
    found = "the same in each run" if are_fixed else hostkernel.RANDOM
    return Check("addresses", are_fixed, found, hostkernel.RANDOM_ADVICE)


def check_shared_memory() -> Check:
    """Look for room for the memory of a guest."""
    try:
        room = free_shared_bytes()
    except OSError as error:
        return Check("shared memory", False, f"{shared_memory()}: {error.strerror}", "set WBLAB_SHM to a tmpfs")
    return Check(
        "shared memory",
        room >= _BASE_MEMORY,
        f"{shared_memory()} has {room >> 20} MiB free",
        f"the base experiment needs {_BASE_MEMORY >> 20} MiB: free some, or set WBLAB_SHM to a larger tmpfs",
    )


def check_executable() -> Check:
    """UML maps its memory executable: a file on /dev/shm must be one that can be run."""
    try:
        with tempfile.TemporaryDirectory(dir=shared_memory(), prefix="wblab-doctor-") as directory:
            script = Path(directory, "script")
            script.write_text("#!/bin/sh\n")
            script.chmod(0o700)
            subprocess.run([script], check=True)
    except OSError as error:
        advice = "remount it with exec, or set WBLAB_SHM to a tmpfs without noexec"
        return Check("exec on shared memory", False, f"{shared_memory()}: {error.strerror}", advice)
    return Check("exec on shared memory", True, f"{shared_memory()} allows it")


def check_execution(*, is_allowed: bool) -> Check:
    """Say whether a program may be executed that is in memory only."""
    return Check(
        "exec in memory", is_allowed, "allowed" if is_allowed else hostkernel.REFUSED, hostkernel.REFUSED_ADVICE
    )


def check_memory(available_bytes: int) -> Check:
    """Say whether the base experiment has enough memory."""
    good = available_bytes >= _BASE_MEMORY
    return Check("memory", good, f"{available_bytes >> 20} MiB available", "close other programs")


def check_cache(*, has_kernel: bool, needed_bytes: int = _BUILD_ROOM) -> Check:
    """Look for room to build a kernel. Who has one needs none."""
    directory = home()
    while not directory.exists():
        directory = directory.parent
    stats = os.statvfs(directory)
    room = stats.f_bavail * stats.f_frsize
    good = room >= needed_bytes and os.access(directory, os.W_OK)
    found, advice = f"{directory}: {room >> 30} GiB free", "set XDG_CACHE_HOME to a directory with 3 GiB free"
    return Check("kernel cache", good, found, advice, needed=not has_kernel)


# What some verbs need of this machine beside what every run does: a kernel, tracing, control groups, packages.

BUILD, _RUN = "wblab kernel build", "wblab run base"
KERNEL = "kernel"

_FILESYSTEMS = Path("/proc/filesystems")
_CONTROLLERS = ("io", "memory")
_X86_64_V2 = ("cx16", "lahf_lm", "popcnt", "sse4_1", "sse4_2", "ssse3")  # as the x86-64 psABI has it
_FOR = {
    "explore": "explore, advise, compare, matrix tables",
    "pages": "pages in HTML, export --perfetto",
    "live": "monitor, mitigate",
    "cluster": "--cluster",
    "notebooks": "Jupyter, the notebooks in analysis/",
}


def abilities(kernel: Check) -> list[Check]:
    """Run every check of what only some verbs need. kernel: what `built` found."""
    return [
        check_processor(processor_flags()),
        kernel,
        check_trace_cmd(tool_versions()),
        check_tracefs(mounted("tracefs")),
        check_groups(cgroup_root()),
        *check_extras(),
    ]


def built(
    find: Callable[[], Kernel | None] = find_kernel, listing: Callable[[], Sequence[Listed]] = list_kernels
) -> Check:
    """Return whether there is a kernel, and which: the default one, or the first other one. advice: what comes next."""
    try:
        known = catalog.load()
        found, default = find(), known.find(known.default)
        package = carry.describe(found, default, known)
        other = "" if found else next(_names(listing()), "")
    except WblabError as error:
        return Check(KERNEL, False, str(error), BUILD, needed=False)
    if other:
        words = f"{other}; {known.default}, the default, is not built"
        return Check(KERNEL, True, words, f"{_RUN} --kernel {other}", needed=False)
    words = ", ".join(filter(None, [found.release if found else "none built yet", package]))
    return Check(KERNEL, found is not None, words, _RUN if found else BUILD, needed=False)


def _names(listed: Iterable[Listed]) -> Iterator[str]:
    """Yield the names of built kernels."""
    for entry in listed:
        yield from [entry.series] if entry.kernel else []
        yield from (f"{entry.series}{VARIANT}{name}" for name, kernel in entry.variants.items() if kernel)
        yield from entry.configured


def check_processor(flags: Collection[str]) -> Check:
    """Look for what NumPy's packages are built for; without it Python ends with an illegal instruction."""
    missing = [flag for flag in _X86_64_V2 if flag not in flags]
    found = f"without {', '.join(missing)}" if missing else "x86-64-v2 or better"
    advice = "in a virtual machine, show it a newer processor (QEMU: -cpu max): runs do without, NumPy does not"
    return Check("processor", not missing, found, advice, needed=False)


def check_trace_cmd(versions: Mapping[str, str]) -> Check:
    """Look for the recorder of traces. versions: of the tools that are here."""
    version = versions.get("trace-cmd", "")
    advice = "install trace-cmd: runs need it to show the page cache and to explain pauses"
    return Check("trace-cmd", bool(version), version or "not found", advice, needed=False)


def check_tracefs(places: Sequence[Path], filesystems: Path = _FILESYSTEMS) -> Check:
    """Look for tracing of this kernel. places: where it is mounted. filesystems: the file that lists all kinds."""
    there = bool(places) or "tracefs" in filesystems.read_text().split()
    found = str(places[0]) if places else "not mounted: live mode mounts it" if there else "this kernel has none"
    whose = "" if os.geteuid() == 0 or not there else "; for root only: run live mode with sudo"
    return Check("tracefs", there, found + whose, "boot a kernel with tracing: live mode needs it", needed=False)


def check_groups(root: Path | None) -> Check:
    """Look for controllers of control groups. root: where these are mounted."""
    has = _controllers(root) if root else []
    missing = [name for name in _CONTROLLERS if name not in has]
    found = f"{root}, with {', '.join(name for name in _CONTROLLERS if name in has) or 'neither io nor memory'}"
    advice = "boot with systemd.unified_cgroup_hierarchy=1: live mode and mitigate need cgroup v2"
    return Check("control groups", not missing, found if root else "cgroup v2 is not mounted", advice, needed=False)


def _controllers(group: Path) -> list[str]:
    try:
        return controllers_of(group)
    except OSError:
        return []


def check_extras(is_there: Callable[[str], bool] = extras.is_there) -> list[Check]:
    """Look for optional packages. One command installs all that are not there."""
    missing = [name for name in _FOR if not is_there(name)]
    advice = extras.command(missing) if missing else ""
    return [
        Check(
            f"extra {name}",
            name not in missing,
            f"{'not installed' if name in missing else 'installed'}: {what}",
            advice if name in missing else "",
            needed=False,
        )
        for name, what in _FOR.items()
    ]
