"""Whether the addresses of a kernel can be fixed: asked of processes that may fix them, and of others."""

import subprocess
import sys

import pytest

from wblab.lab.places import ROOT

ASK = "from wblab.host.addresses import are_fixed; print(are_fixed(), open('/proc/self/personality').read().strip())"
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
    assert asked(sys.executable, "-c", ASK) == "True 00000000"


def test_a_refused_call_is_noticed():
    assert asked(sys.executable, "-c", REFUSED + ASK) == "False 00000000"


@pytest.mark.parametrize("code", [ASK, REFUSED + ASK])
def test_fixed_addresses_are_inherited(code):
    assert asked("setarch", "--addr-no-randomize", sys.executable, "-c", code) == "True 00040000"
