import subprocess
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wblab.core.errors import WblabError
from wblab.core.spec import Clock, Disk, Spec
from wblab.core.status import Message
from wblab.guest.init import check_lost, on_grid, say, sleep_until
from wblab.host.command import interpreter
from wblab.lab.places import ROOT

SPEC = {"name": "x", "memory": 1, "disk": {"disk": Disk(size=1, write_bps=1)}, "load": {}}
VIRTUAL, REAL = (Spec(**SPEC, clock=Clock(mode=mode)) for mode in ("virtual", "real"))


@settings(deadline=None)
@given(st.integers(0, 10**15))
def test_virtual_time_continues_at_a_multiple_of_five_seconds(time_ns):
    later = on_grid(VIRTUAL, time_ns)
    assert later % (5 * 10**9) == 0
    assert time_ns <= later < time_ns + 5 * 10**9
    assert on_grid(REAL, time_ns) == time_ns


def test_a_guest_imports_no_module_that_reads_the_host_s_set_up():
    """OpenSSL reads /etc/ssl/openssl.cnf, which exists on some hosts and must not affect a guest."""
    code = "import sys; sys.path.insert(0, sys.argv[1]); import wblab.guest.init; print(*sys.modules)"
    command = [interpreter(), "-S", "-s", "-P", "-B", "-c", code, str(ROOT)]
    modules = set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())
    assert modules & {"_hashlib", "_ssl", "secrets", "random", "tomllib", "wblab.guest.init"} == {
        "random",
        "wblab.guest.init",
    }


def test_sleeping_until_a_time():
    time_ns = time.monotonic_ns() + 20_000_000
    sleep_until(time_ns)
    assert time.monotonic_ns() >= time_ns
    sleep_until(0)


def test_a_message_is_sent_at_once(tmp_path):
    with open(tmp_path / "status", "wb", buffering=0) as status:
        say(status.fileno(), "failed", reason="a reason")
        message = Message.parse((tmp_path / "status").read_bytes())
    assert (message.phase, message.detail) == ("failed", {"reason": "a reason"})
    assert 0 < message.guest_ns <= time.monotonic_ns()


def test_lost_events_are_a_failure_with_their_number():
    check_lost(0)
    with pytest.raises(WblabError, match=r"the trace lost 7 events: raise trace\.buffer"):
        check_lost(7)
