"""Whether programs in memory are allowed: asked of this host, of an older one, and of one that refuses them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.conditions import CONDITIONS

ASK = "from wblab.host.execution import is_allowed; print(is_allowed())"


def asked(*before: str) -> str:
    done = subprocess.run([*before, sys.executable, "-c", ASK], capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.mark.parametrize("before", [(), CONDITIONS["linux-6.1"].before])
def test_programs_in_memory_are_allowed(before):
    assert asked(*before) == "True"


def test_a_host_may_refuse_them():
    """The setting is that of a PID namespace, so that nothing else is touched."""
    if os.geteuid() or not Path("/proc/sys/vm/memfd_noexec").exists():
        pytest.skip("needs root and Linux 6.3, to set vm.memfd_noexec")
    set_and_ask = 'echo 2 > /proc/sys/vm/memfd_noexec && exec "$@"'
    assert asked("unshare", "--pid", "--fork", "--mount-proc", "sh", "-c", set_and_ask, "sh") == "False"
