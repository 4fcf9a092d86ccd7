"""A self-chosen name does not exempt a process."""

import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest

from wblab.live.mitigate.processes import Allowed, Processes, executable, unit_of

SLEEP = Path(shutil.which("sleep") or "").resolve()
NOBODY = 65534


@contextmanager
def running(*argv, **options):
    process = subprocess.Popen(argv, **options)
    try:
        while executable(process.pid) == executable(os.getpid()) or not executable(process.pid).name:
            assert process.poll() is None
            os.sched_yield()
        yield process.pid
    finally:
        process.kill()
        process.wait()


@pytest.fixture
def as_root():
    if os.geteuid():
        pytest.skip("only root can start processes of two users: run the tests as root")


def test_a_self_chosen_name_does_not_exempt(start):
    process = start(
        "from wblab.core.syscalls import set_process_name as call; call('sshd'); print(flush=True); input()"
    )
    process.stdout.readline()
    assert Path(f"/proc/{process.pid}/comm").read_text() == "sshd\n"
    processes = Processes(["sshd"])
    processes.refresh()
    assert processes.names[process.pid] == "sshd"
    assert not processes.protected(process.pid)
    assert not Allowed(["sshd"]).starts_others(process.pid)


@pytest.mark.parametrize("entry", [SLEEP.name, str(SLEEP)])
def test_a_system_program_is_exempt_when_run_by_root(as_root, entry):
    with running(SLEEP, "99") as pid:
        assert Allowed([entry]).exempts(pid)
        assert not Allowed(["other", "/other"]).exempts(pid)


def test_a_user_s_program_is_judged_but_not_blamed_for_others(as_root):
    with running(SLEEP, "99", user=NOBODY, group=NOBODY, extra_groups=[]) as pid:
        assert not Allowed([SLEEP.name]).exempts(pid)
        assert Allowed([SLEEP.name]).starts_others(pid)


@pytest.mark.parametrize("owner", [0, NOBODY])
def test_a_program_writable_by_others_is_not_exempt(as_root, owner):
    with tempfile.TemporaryDirectory(dir="/var/tmp") as place:
        shutil.copy(SLEEP, program := Path(place, "sshd"))
        program.chmod(0o755)
        os.chown(program, owner, owner)
        Path(place).chmod(0o755 if owner else 0o777)
        with running(program, "99") as pid:
            assert not Allowed(["sshd"]).starts_others(pid)


def test_a_deleted_program_is_not_exempt(as_root, tmp_path):
    shutil.copy(SLEEP, program := tmp_path / "sshd")
    with running(program, "99") as pid:
        assert Allowed(["sshd"]).exempts(pid)
        program.unlink()
        shutil.copy(SLEEP, program)
        assert not Allowed(["sshd"]).exempts(pid)


@pytest.mark.parametrize(
    ("line", "unit"),
    [
        ("0::/system.slice/dbus.service", "dbus.service"),
        ("1:name=systemd:/system.slice/dbus.service/below", "dbus.service"),
        ("0::/system.slice/system-x.slice/dbus.service", "dbus.service"),
        ("5:cpu:/system.slice/dbus.service", ""),
        ("0::/system.slice", ""),
        ("0::/system.slice/docker-0.scope/system.slice/dbus.service", "docker-0.scope"),
        ("0::/user.slice/user-1.slice/user@1.service/system.slice/dbus.service", ""),
        ("0::/../system.slice/dbus.service", ""),
        ("0::/", ""),
        ("nonsense", ""),
    ],
)
def test_a_service_is_recognised_by_its_control_group(tmp_path, line, unit):
    (tmp_path / "1").mkdir()
    (tmp_path / "1/cgroup").write_text(f"9:pids:/x\n{line}\n")
    assert unit_of(1, tmp_path) == unit


def test_an_ended_process_is_not_exempt():
    process = subprocess.Popen([sys.executable, "-S", "-c", ""])
    process.wait()
    allowed = Allowed(["", ".", "python3", "dbus.service"])
    assert not allowed.exempts(process.pid)
    assert not allowed.starts_others(process.pid)
