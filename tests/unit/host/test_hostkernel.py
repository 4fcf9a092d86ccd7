"""What the host's kernel permits: asked of this host, of an older one, of one that refuses, and of processes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.conditions import CONDITIONS

from wblab.lab.places import ROOT

MEMORY = "from wblab.host.hostkernel import memory_is_executable; print(memory_is_executable())"
ADDRESSES = """
from wblab.host.hostkernel import addresses_are_fixed
print(addresses_are_fixed(), open('/proc/self/personality').read().strip())
"""
REFUSED = """
import ctypes
from wblab.core.syscalls import libc
from wblab.host.sandbox import seccomp
every = [number for number in range(500) if number != 135]
libc.prctl(38, ctypes.c_ulong(1), 0, 0, 0)
seccomp.install(seccomp.program(every, {}))
"""


def asked(*command: str) -> str:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_a_process_may_fix_its_addresses_and_is_left_as_it_was():
    assert asked(sys.executable, "-c", ADDRESSES) == "True 00000000"


def test_a_refused_call_is_noticed():
    assert asked(sys.executable, "-c", REFUSED + ADDRESSES) == "False 00000000"


@pytest.mark.parametrize("code", [ADDRESSES, REFUSED + ADDRESSES])
def test_fixed_addresses_are_inherited(code):
    assert asked("setarch", "--addr-no-randomize", sys.executable, "-c", code) == "True 00040000"


@pytest.mark.parametrize("before", [(), CONDITIONS["linux-6.1"].before])
def test_programs_in_memory_are_allowed(before):
    assert asked(*before, sys.executable, "-c", MEMORY) == "True"


def test_a_host_may_refuse_them():
    """The setting is that of a PID namespace, so that nothing else is touched."""
    if os.geteuid() or not Path("/proc/sys/vm/memfd_noexec").exists():
        pytest.skip("needs root and Linux 6.3, to set vm.memfd_noexec")
    setting = ["unshare", "--pid", "--fork", "--mount-proc"]
    set_and_ask = ["sh", "-c", 'echo 2 > /proc/sys/vm/memfd_noexec && exec "$@"', "sh"]
    assert asked(*setting, *set_and_ask, sys.executable, "-c", MEMORY) == "False"
