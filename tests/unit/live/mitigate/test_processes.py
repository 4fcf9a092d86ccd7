import os
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest

from wblab.live.mitigate.accountedtasks import Allowed, Processes, ancestors, executable, unit_of, waits_for_disk
from wblab.machine.processes import identify, threads

SLEEP = "import time; print(flush=True); time.sleep(1000)"


def sleeper(start, code=SLEEP):
    process = start(code)
    process.stdout.readline()
    return process


def test_a_process_is_identified_by_its_start_time():
    own = identify(os.getpid())
    assert own.parent == os.getppid()
    assert own.session == os.getsid(0)
    assert own == identify(os.getpid())
    child = subprocess.Popen(["true"])
    child.wait()
    assert identify(child.pid) is None
    assert threads(child.pid) == []


def test_names_with_brackets_and_spaces(start):
    name = "a) (b S 1"
    process = sleeper(start, f"from wblab.core.syscalls import set_process_name; set_process_name({name!r}); {SLEEP}")
    assert identify(process.pid).name == name
    assert identify(process.pid).parent == os.getpid()


def test_kernel_threads_are_left_out():
    processes = Processes(())
    processes.refresh()
    everyone = {int(name): identify(int(name)) for name in os.listdir("/proc") if name.isdigit()}
    kernel = [pid for pid, identity in everyone.items() if identity and identity.flags & 0x00200000]
    if not kernel:
        pytest.skip("no kernel threads are to be seen here")
    assert not set(kernel) & processes.parents.keys()
    known = set(kernel) & {int(name) for name in os.listdir("/proc") if name.isdigit()}
    processes.refresh()
    assert all(processes.protected(pid) for pid in known if identify(pid))


def test_protected_processes_are_recognised(start):
    process = sleeper(start)
    processes = Processes(())
    assert process.pid in processes.refresh()
    assert not processes.protected(process.pid)
    assert all(processes.protected(pid) for pid in {1, os.getpid(), os.getppid(), *ancestors()})
    name = Path(os.readlink(f"/proc/{process.pid}/exe")).name
    for only, protected in ((("other",), True), ((name,), False), ((processes.names[process.pid],), False)):
        named = Processes((), only)
        named.refresh()
        assert named.protected(process.pid) is protected


def test_new_and_ended_processes_are_found(start):
    processes = Processes(())
    processes.refresh()
    process = sleeper(start)
    assert process.pid in processes.refresh()
    assert process.pid not in processes.refresh()
    process.kill()
    process.wait()
    processes.refresh()
    assert process.pid not in processes.parents


def test_blame_stops_at_a_session_leader(start, request):
    code = """
import os, time
child = os.fork()
if not child:
    other = os.fork()
    if not other: os.setsid()
    print("x", flush=True)
else:
    print(child, flush=True)
time.sleep(1000)
"""
    process = start(code)
    for _ in range(3):
        process.stdout.readline()
    processes = Processes(())
    processes.refresh()
    (child,) = [pid for pid, parent in processes.parents.items() if parent == process.pid]
    (other,) = [pid for pid, parent in processes.parents.items() if parent == child]
    request.addfinalizer(lambda: os.kill(other, signal.SIGKILL))  # it is in none of the groups that the fixture ends
    assert processes.answers_for(child) == process.pid
    assert processes.answers_for(other) is None
    assert processes.answers_for(process.pid) is None  # a separate session, started by the test
    assert set(processes.family(process.pid)) == {process.pid, child}


def test_threads_are_counted(start):
    more = "for _ in range(3): threading.Thread(target=time.sleep, args=(1000,)).start()"
    process = sleeper(start, f"import threading, time\n{more}\n{SLEEP}")
    processes = Processes(())
    assert sorted(processes.tasks(process.pid)) == sorted(threads(process.pid))
    assert len(threads(process.pid)) == 4
    assert processes.tasks(os.getpid()) == threads(os.getpid())


def test_a_sleeping_process_does_not_wait_for_the_disk(start):
    assert not waits_for_disk(sleeper(start).pid)


def test_a_process_blocked_in_the_kernel_waits_for_the_disk(start):
    """The parent of a vfork is in uninterruptible sleep until its child calls exec or exits."""
    process = start(
        """
import ctypes, os, time
libc = ctypes.CDLL(None)
print(os.getpid(), flush=True)
libc.syscall(56, ctypes.c_ulong(0x4000 | 17), 0, 0, 0, 0)  # clone with CLONE_VFORK only: the child has its own memory
time.sleep(1000)
"""
    )
    process.stdout.readline()
    for _ in range(1000):
        if waits_for_disk(process.pid):
            return
        os.sched_yield()
        subprocess.run([sys.executable, "-S", "-c", ""], check=True)
    pytest.fail("it never was seen waiting")


SLEEP_PROGRAM = Path(shutil.which("sleep") or "").resolve()
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


@pytest.mark.parametrize("entry", [SLEEP_PROGRAM.name, str(SLEEP_PROGRAM)])
def test_a_system_program_is_exempt_when_run_by_root(as_root, entry):
    with running(SLEEP_PROGRAM, "99") as pid:
        assert Allowed([entry]).exempts(pid)
        assert not Allowed(["other", "/other"]).exempts(pid)


def test_a_user_s_program_is_judged_but_not_blamed_for_others(as_root):
    with running(SLEEP_PROGRAM, "99", user=NOBODY, group=NOBODY, extra_groups=[]) as pid:
        assert not Allowed([SLEEP_PROGRAM.name]).exempts(pid)
        assert Allowed([SLEEP_PROGRAM.name]).starts_others(pid)


@pytest.mark.parametrize("owner", [0, NOBODY])
def test_a_program_writable_by_others_is_not_exempt(as_root, owner):
    with tempfile.TemporaryDirectory(dir="/var/tmp") as place:
        shutil.copy(SLEEP_PROGRAM, program := Path(place, "sshd"))
        program.chmod(0o755)
        os.chown(program, owner, owner)
        Path(place).chmod(0o755 if owner else 0o777)
        with running(program, "99") as pid:
            assert not Allowed(["sshd"]).starts_others(pid)


def test_a_deleted_program_is_not_exempt(as_root, tmp_path):
    shutil.copy(SLEEP_PROGRAM, program := tmp_path / "sshd")
    with running(program, "99") as pid:
        assert Allowed(["sshd"]).exempts(pid)
        program.unlink()
        shutil.copy(SLEEP_PROGRAM, program)
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
