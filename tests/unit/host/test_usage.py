import os
import signal
import subprocess
import sys

from support.waiting import wait_until

from wblab.host.usage import descendants, private_bytes, waited_ns

FAMILY = "import os, time; os.fork() and print(flush=True); os.fork(); time.sleep(60)"


def test_descendants_are_found():
    with subprocess.Popen([sys.executable, "-c", FAMILY], start_new_session=True) as process:
        wait_until(lambda: len(descendants(process.pid)) == 4)
        os.killpg(process.pid, signal.SIGKILL)


def test_a_process_ending_during_inspection_has_no_descendants(monkeypatch):
    def gone(path):
        raise FileNotFoundError(path)

    for name in ("listdir", "scandir"):  # between the check of its existence and the reading of its usage
        monkeypatch.setattr(os, name, gone)
    assert descendants(os.getpid()) == [os.getpid()]


def test_private_memory_counts_and_shared_does_not():
    def held(code):
        with subprocess.Popen(
            [sys.executable, "-c", f"import mmap\n{code}\nprint(flush=True); input()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        ) as process:
            process.stdout.readline()
            taken = private_bytes([process.pid])
            process.stdin.close()
        return taken

    nothing = held("")
    assert held("kept = b'x' * (100 << 20)") - nothing > 90 << 20
    assert held("kept = mmap.mmap(-1, 100 << 20); kept.write(b'x' * (100 << 20))") - nothing < 20 << 20


def test_an_ended_process_uses_nothing():
    with subprocess.Popen(["true"]) as process:
        process.wait()
    assert private_bytes([process.pid]) == 0
    assert descendants(process.pid) == [process.pid]


def test_processes_sharing_a_processor_wait_for_it():
    busy = "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}); print(flush=True)\nwhile True: pass"
    both = [subprocess.Popen([sys.executable, "-c", busy], stdout=subprocess.PIPE) for _ in range(2)]
    for process in both:
        process.stdout.readline()
    pids = [process.pid for process in both]
    before_ns = waited_ns(pids)
    wait_until(lambda: waited_ns(pids) - before_ns > 200_000_000)
    for process in both:
        process.kill()
        process.communicate()
    assert waited_ns(pids) == 0
