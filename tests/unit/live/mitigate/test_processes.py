import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from wblab.live.mitigate.processes import Processes, ancestors, waits_for_disk
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
