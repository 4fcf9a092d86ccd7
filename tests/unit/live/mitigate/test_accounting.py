import os
import subprocess
import sys

import pytest

from wblab.live.mitigate.accountedtasks import Processes
from wblab.live.mitigate.accounting import ProcAccounting, TaskstatsAccounting, holds_much, queue_s

MIB = 1 << 20
WRITE = "import sys; open(sys.argv[1], 'wb').write(bytes(1 << 20))"
# Each line that comes in makes a thread write 1 MiB and end.
THREADS = """
import sys, threading
def write(): open(sys.argv[1] + threading.current_thread().name, "wb").write(bytes(1 << 20))
print("ready", flush=True)
for line in sys.stdin:
    thread = threading.Thread(target=write)
    thread.start()
    thread.join()
    print("done", flush=True)
"""


@pytest.fixture(params=["taskstats", "proc"])
def accounting(request):
    if request.param == "proc":
        return ProcAccounting()
    return TaskstatsAccounting(request.getfixturevalue("taskstats"))


def say(process, count=1):
    for _ in range(count):
        process.stdin.write("\n")
        process.stdin.flush()
        assert process.stdout.readline() == "done\n"


def test_writes_before_the_start_do_not_count(accounting, disk_path):
    (disk_path / "file").write_bytes(bytes(MIB))
    usage, new = accounting.sample(Processes(()))
    assert not usage.written
    assert not new


def test_a_process_s_own_writes(accounting, disk_path):
    processes = Processes(())
    accounting.sample(processes)
    (disk_path / "file").write_bytes(bytes(3 * MIB))
    usage, _ = accounting.sample(processes)
    assert 3 * MIB <= usage.written[os.getpid()] < 4 * MIB
    usage, _ = accounting.sample(processes)
    assert usage.written.get(os.getpid(), 0) < MIB


def test_threads_count_for_their_process_also_when_they_have_ended(accounting, start, disk_path):
    processes = Processes(())
    writer = start(THREADS, disk_path / "file")
    assert writer.stdout.readline() == "ready\n"
    accounting.sample(processes)
    for _ in range(2):
        say(writer, 3)
        usage, _ = accounting.sample(processes)
        assert 3 * MIB <= usage.written[writer.pid] < 3.5 * MIB


def test_a_new_process_counts_from_its_start(accounting, start, disk_path):
    processes = Processes(())
    accounting.sample(processes)
    writer = start(THREADS, disk_path / "file")
    assert writer.stdout.readline() == "ready\n"
    say(writer)
    usage, new = accounting.sample(processes)
    assert writer.pid in new
    assert MIB <= usage.written[writer.pid] < 1.5 * MIB
    assert processes.parents[writer.pid] == os.getpid()


def test_a_process_that_lived_between_two_samples_is_counted(taskstats, disk_path):
    accounting, processes = TaskstatsAccounting(taskstats), Processes(())
    accounting.sample(processes)
    child = subprocess.Popen([sys.executable, "-c", WRITE, disk_path / "file"])
    child.wait()
    usage, _ = accounting.sample(processes)
    assert MIB <= usage.written[child.pid] < 1.5 * MIB
    assert usage.ended[child.pid] == os.getpid()


def test_a_zombie_counts_once(taskstats, disk_path):
    accounting, processes = TaskstatsAccounting(taskstats), Processes(())
    accounting.sample(processes)
    child = subprocess.Popen([sys.executable, "-c", WRITE, disk_path / "file"])
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    total = 0
    for _ in range(3):
        usage, _ = accounting.sample(processes)
        total += usage.written.get(child.pid, 0)
    child.wait()
    usage, _ = accounting.sample(processes)
    total += usage.written.get(child.pid, 0)
    assert MIB <= total < 1.5 * MIB
    assert usage.ended[child.pid] == os.getpid()


def test_a_known_process_that_ends_leaves_its_last_bytes(taskstats, start, disk_path):
    accounting, processes = TaskstatsAccounting(taskstats), Processes(())
    writer = start(THREADS, disk_path / "file")
    assert writer.stdout.readline() == "ready\n"
    accounting.sample(processes)
    say(writer)
    accounting.sample(processes)
    say(writer, 2)
    writer.stdin.close()
    writer.wait()
    usage, _ = accounting.sample(processes)
    assert 2 * MIB <= usage.written[writer.pid] < 2.5 * MIB
    assert usage.ended[writer.pid] == os.getpid()


def test_cancelled_writes_do_not_count(taskstats, disk_path):
    accounting, processes = TaskstatsAccounting(taskstats), Processes(())
    accounting.sample(processes)
    (disk_path / "file").write_bytes(bytes(8 * MIB))
    (disk_path / "file").unlink()
    usage, _ = accounting.sample(processes)
    assert usage.written.get(os.getpid(), 0) < 4 * MIB


def test_a_child_counts_once(accounting, start, disk_path):
    """/proc/PID/io of a parent includes its children after it has waited for them."""
    processes = Processes(())
    code = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", sys.argv[1], sys.argv[2]], stdin=subprocess.PIPE, stdout=sys.stdout)
print(child.pid, flush=True)
for line in sys.stdin:
    child.communicate(line.encode())
    print("waited", flush=True)
"""
    parent = start(code, THREADS, disk_path / "file")
    (child,) = {parent.stdout.readline().strip(), parent.stdout.readline().strip()} - {"ready"}
    accounting.sample(processes)
    say(parent)  # the child's answer
    first, _ = accounting.sample(processes)
    assert parent.stdout.readline() == "waited\n"
    last, _ = accounting.sample(processes)
    total = sum(usage.written.get(pid, 0) for usage in (first, last) for pid in (parent.pid, int(child)))
    assert MIB <= total < 1.5 * MIB


@pytest.fixture
def queue(tmp_path):
    """The queue of a disk, with 4 requests of 512 KiB: 2 s of work at 1 MiB/s."""
    (place := tmp_path / "sda" / "queue").mkdir(parents=True)
    for name, value in (("nr_requests", "4"), ("max_sectors_kb", "512"), ("write_cache", "write back")):
        (place / name).write_text(f"{value}\n")
    return place


@pytest.mark.parametrize(
    ("flush_s", "bandwidth", "told"),
    [
        (8.0, MIB, True),
        (2.1, MIB, False),  # no longer than the queue can take
        (0.0, MIB, False),  # no flushes
        (0.4, 100 * MIB, False),  # much longer than the queue, but still short
        (0.6, 100 * MIB, True),
    ],
)
def test_a_write_cache_is_detected_by_long_flushes(queue, flush_s, bandwidth, told):
    assert queue_s("sda", MIB, queue.parents[1]) == 2.0
    assert holds_much("sda", flush_s, bandwidth, queue.parents[1]) == told


def test_a_long_queue_explains_long_flushes(queue):
    (queue / "nr_requests").write_text("32\n")
    assert not holds_much("sda", 16.0, MIB, queue.parents[1])


def test_a_disk_without_flushes_has_no_known_cache(queue):
    (queue / "write_cache").write_text("write through\n")
    assert not holds_much("sda", 8.0, MIB, queue.parents[1])


def test_a_removed_disk_has_no_known_cache(queue):
    assert not holds_much("sdb", 8.0, MIB, queue.parents[1])
