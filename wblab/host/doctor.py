"""Checks of the machine: what the lab needs, whether it is there, and what to do when it is not."""

import ctypes
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from wblab.core.errors import WblabError
from wblab.host import addresses, execution
from wblab.host.abilities import BUILD, KERNEL, abilities, built
from wblab.host.command import interpreter
from wblab.host.finding import Finding
from wblab.host.machine import available_memory_bytes, free_shared_bytes, shared_memory
from wblab.host.sandbox import landlock_version
from wblab.kernels.cache import home
from wblab.lab.packages import advice, missing_packages, only_build, own_names
from wblab.lab.tables import Table

_PTRACE_SCOPE = Path("/proc/sys/kernel/yama/ptrace_scope")
_PTRACE_SCOPE_NONE = 3  # Documentation/admin-guide/LSM/Yama.rst: no attach, PTRACE_TRACEME neither
_BASE_MEMORY = 350 << 20  # memory, disk and room to spare of the base experiment
_BUILD_ROOM = 3 << 30  # a kernel's source and its objects while it is built

_PR_GET_SECCOMP, _PR_SET_NO_NEW_PRIVS = 21, 38
_SECCOMP_GET_ACTION_AVAIL, _SYS_SECCOMP, _SECCOMP_RET_TRAP = 2, 317, 0x00030000


def examine() -> list[Finding]:
    """Run every check."""
    checks: tuple[Callable[[], Finding], ...] = (
        _python,
        _guest_python,
        _packages,
        _ptrace,
        _seccomp,
        _landlock,
        _addresses,
        _shared_memory,
        _executable,
        _execution,
        _memory,
        _cache,
    )
    return [*(check() for check in checks), *([_compiler()] if built().good else []), *abilities()]


def table(findings: Sequence[Finding]) -> Table:
    """Return findings as a table, with what to do: BAD is what every run needs, -- what only some verbs do."""
    rows = []
    last = {finding.advice: finding for finding in findings if not finding.good}  # one advice may mend several
    for finding in findings:
        rows.append(("ok" if finding.good else "BAD" if finding.needed else "--", finding.check, finding.found))
        if not finding.good and last[finding.advice] is finding:
            rows.append(("", "", f"-> {finding.advice}"))
    return Table(rows)


def bad(findings: Sequence[Finding]) -> list[Finding]:
    """Return what keeps the lab from running here."""
    return [finding for finding in findings if finding.needed and not finding.good]


def next_command(findings: Sequence[Finding]) -> str:
    """Return what to type next: to build a kernel, or with one to make a run."""
    return BUILD if any(finding.check == KERNEL and not finding.good for finding in findings) else "wblab run base"


def _python() -> Finding:
    version = ".".join(map(str, sys.version_info[:3]))
    return Finding("Python", sys.version_info >= (3, 11), version, "install Python 3.11 or later")


def _guest_python() -> Finding:
    try:
        return Finding("Python of the guest", True, interpreter())
    except WblabError as error:
        return Finding("Python of the guest", False, str(error), "install python3")


def _packages() -> Finding:
    """Look for what runs call; and, without a kernel, for what builds one."""
    kernel = built().good
    missing = [package for package in missing_packages() if not (kernel and only_build([package]))]
    return Finding("packages", not missing, ", ".join(own_names(missing)) or "all installed", advice(missing))


def _compiler() -> Finding:
    missing = [package for package in missing_packages() if only_build([package])]
    found = f"{', '.join(own_names(missing)) or 'all installed'}: to build other kernels"
    return Finding("packages of builds", not missing, found, advice(missing), needed=False)


def _ptrace() -> Finding:
    try:
        scope = int(_PTRACE_SCOPE.read_text())
    except OSError:
        return Finding("ptrace", True, "no Yama")
    return Finding(
        "ptrace",
        scope < _PTRACE_SCOPE_NONE,
        f"kernel.yama.ptrace_scope = {scope}",
        "sysctl kernel.yama.ptrace_scope=1; without ptrace only kernels with seccomp mode run",
    )


def _seccomp() -> Finding:
    """Ask whether a filter may trap system calls, which is what UML does with one; see seccomp(2)."""
    action = ctypes.c_uint32(_SECCOMP_RET_TRAP)
    result = ctypes.CDLL(None).syscall(_SYS_SECCOMP, _SECCOMP_GET_ACTION_AVAIL, 0, ctypes.byref(action))
    found = "filters can trap" if result == 0 else "filters cannot trap"
    return Finding("seccomp", result == 0, found, "guests use ptrace instead, at about half the speed")


def _landlock() -> Finding:
    version = landlock_version()
    found = f"version {version}" if version else "none"
    advice = "boot with lsm=landlock,… or a kernel that has it; without it only the guest's kernel protects your files"
    return Finding("Landlock", version > 0, found, advice)


def _addresses() -> Finding:
    fixed = addresses.are_fixed()
    return Finding("addresses", fixed, "the same in each run" if fixed else addresses.RANDOM, addresses.ADVICE)


def _shared_memory() -> Finding:
    try:
        room = free_shared_bytes()
    except OSError as error:
        return Finding("shared memory", False, f"{shared_memory()}: {error.strerror}", "set WBLAB_SHM to a tmpfs")
    return Finding(
        "shared memory",
        room >= _BASE_MEMORY,
        f"{shared_memory()} has {room >> 20} MiB free",
        f"the base experiment needs {_BASE_MEMORY >> 20} MiB: free some, or set WBLAB_SHM to a larger tmpfs",
    )


def _executable() -> Finding:
    """UML maps its memory executable: a file on /dev/shm must be one that can be run."""
    try:
        with tempfile.TemporaryDirectory(dir=shared_memory(), prefix="wblab-doctor-") as directory:
            script = Path(directory, "script")
            script.write_text("#!/bin/sh\n")
            script.chmod(0o700)
            subprocess.run([script], check=True)
    except OSError as error:
        advice = "remount it with exec, or set WBLAB_SHM to a tmpfs without noexec"
        return Finding("exec on shared memory", False, f"{shared_memory()}: {error.strerror}", advice)
    return Finding("exec on shared memory", True, f"{shared_memory()} allows it")


def _execution() -> Finding:
    allowed = execution.is_allowed()
    return Finding("exec in memory", allowed, "allowed" if allowed else execution.REFUSED, execution.ADVICE)


def _memory() -> Finding:
    memory = available_memory_bytes()
    return Finding("memory", memory >= _BASE_MEMORY, f"{memory >> 20} MiB available", "close other programs")


def _cache() -> Finding:
    """Look for room to build a kernel. Who has one needs none."""
    directory = home()
    while not directory.exists():
        directory = directory.parent
    stats = os.statvfs(directory)
    room = stats.f_bavail * stats.f_frsize
    good = room >= _BUILD_ROOM and os.access(directory, os.W_OK)
    found, advice = f"{directory}: {room >> 30} GiB free", "set XDG_CACHE_HOME to a directory with 3 GiB free"
    return Finding("kernel cache", good, found, advice, needed=not built().good)
