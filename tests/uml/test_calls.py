"""The system calls that a guest's kernel makes on the host in a whole run, compared with the permitted ones."""

import re
import shutil
import sys
from dataclasses import replace

import pytest

from wblab.host.installation import guest_sandbox
from wblab.host.request import ready
from wblab.host.run import run_experiment
from wblab.host.sandbox import Sandbox, seccomp
from wblab.lab.results import SPECS
from wblab.lab.specfile import read_spec

# The kernel tries these calls and works without them: for its management console, to trace processes that seccomp mode
# has ended, and in 6.1 to read the host's LDT.
DONE_WITHOUT = {"socket", "bind", "ptrace", "setsid", "modify_ldt"}
ALLOWED = set(seccomp.KERNEL) | {
    "open",
    "openat",
    "prlimit64",
    "personality",
    "clone",
    "ioctl",
    "fcntl",
    "socketpair",
    "prctl",
    "mkdir",
    "mkdirat",
    "rt_tgsigqueueinfo",
}
SHORT = ("load.l1.size=1MiB", "load.l2.size=1MiB", "load.l1.wait=1s", "load.l2.wait=2s", "trace.lead=0")
# Not traced, because that would take minutes.
FREQUENT = "futex,sendmsg,recvmsg,rt_sigreturn,pread64,access,statx,mmap,close"
_LINE = re.compile(r"(\d+) +(\w+)\((.*)")


def made_calls(log):
    """Return the calls in a log of strace -f that the kernel made itself, without those of the guest's programs."""
    begun, made = {}, set()
    for line in log.read_text(errors="replace").splitlines():
        pid, _, rest = line.partition(" ")
        if rest.lstrip().startswith("--- SIGSYS"):
            begun.pop(pid, None)  # intercepted: a call of a guest's program
        elif match := _LINE.match(line):
            if pid in begun:
                made.add(begun[pid])
            begun[pid] = match[2]
    return made | set(begun.values())


@pytest.fixture
def traced(lab, tmp_path, monkeypatch):
    """Run the base experiment with strace around the guest's kernel; return the calls that it made."""
    if shutil.which("strace") is None:
        pytest.fail("strace is missing: run 'make setup'")

    def run(*settings):
        log = tmp_path / "calls" / "log"
        log.parent.mkdir()
        linux = tmp_path / "linux"
        strace = f"strace -f --seccomp-bpf -qq -e 'trace=!{FREQUENT}' -o '{log}'"
        linux.write_text(f"#!/bin/sh\nexec {strace} '{lab.kernel.path}' \"$@\"\n")
        linux.chmod(0o755)
        everything = Sandbox(runs=["/"], reads=["/"], keeps=[str(log.parent)], calls="")
        monkeypatch.setattr("wblab.host.run.guest_sandbox", lambda *_, **__: everything)
        request = ready(read_spec(SPECS.find("base"), (*settings, *SHORT)), lambda name: lab.kernel)
        run_experiment(replace(request, kernel=replace(lab.kernel, path=linux)), lab.results)
        return made_calls(log)

    return run


@pytest.mark.parametrize("clock", ["virtual", pytest.param("real", marks=pytest.mark.soak)])
def test_the_kernel_makes_only_permitted_system_calls(traced, clock):
    made = traced(f"clock.mode={clock}")
    print("made:", *sorted(made), "\nallowed, not made:", *sorted(ALLOWED - made), file=sys.stderr)
    assert {"execve", "mkdir", "clone", "fdatasync"} <= made  # the kernel itself was traced
    assert made <= ALLOWED | DONE_WITHOUT | set(seccomp.UNKNOWN)


def test_results_are_the_same_with_and_without_the_filter(lab, monkeypatch):
    def bytes_of(run):
        return {path.name: path.read_bytes() for path in run.path.glob("load.*.npy")}

    confined = bytes_of(lab.run("base", *SHORT))
    monkeypatch.setattr(
        "wblab.host.run.guest_sandbox", lambda *given, **named: replace(guest_sandbox(*given, **named), calls="")
    )
    assert bytes_of(lab.run("base", *SHORT)) == confined
