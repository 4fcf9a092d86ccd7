import mmap
import os
import signal
import subprocess
import sys
import time

import pytest
from support.waiting import wait_until

from wblab.core.child import fork_child
from wblab.host.process.usage import descendants, make_scratch, private_bytes, reclaim, remove_scratch, waited_ns

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


def test_scratch_in_use_is_kept_and_abandoned_scratch_is_removed(tmp_path):
    one, two, three = (tmp_path / f"wblab-{number}" for number in range(3))

    def hold():
        make_scratch(one)
        time.sleep(60)

    pid = fork_child(hold)
    wait_until((one / "lock").exists)
    kept = make_scratch(two)
    assert sorted(os.listdir(tmp_path)) == ["wblab-0", "wblab-1"]
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    os.close(make_scratch(three))
    assert sorted(os.listdir(tmp_path)) == ["wblab-1", "wblab-2"]
    os.close(kept)


def test_other_directories_are_kept(tmp_path):
    (tmp_path / "wblab-other").mkdir()
    (tmp_path / "wblab-link").symlink_to(tmp_path / "wblab-other")
    (tmp_path / "wblab-file").touch()
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "lock").touch()
    (tmp_path / "wblab-trap").mkdir()
    (tmp_path / "wblab-trap" / "lock").symlink_to(tmp_path / "home" / "lock")
    before = sorted(map(str, tmp_path.rglob("*")))
    os.close(make_scratch(tmp_path / "wblab-x"))
    remove_scratch(tmp_path / "wblab-x")
    assert sorted(map(str, tmp_path.rglob("*"))) == before


def test_a_scratch_directory_is_new_and_private(tmp_path):
    os.close(make_scratch(tmp_path / "wblab-x"))
    assert (tmp_path / "wblab-x").stat().st_mode & 0o777 == 0o700
    remove_scratch(tmp_path / "wblab-x")
    remove_scratch(tmp_path / "wblab-x")


@pytest.mark.parametrize("keep", ["open", "mapped"])
@pytest.mark.parametrize("found", ["by the command", "by the next run"])
def test_processes_left_with_an_abandoned_guest_s_memory_are_killed(tmp_path, keep, found):
    scratch = tmp_path / "wblab-x"

    def be_left():
        os.chdir(tmp_path)
        for _ in range(30):  # its other open files may have names longer than a path can be
            os.mkdir("d" * 200)
            os.chdir("d" * 200)
        os.open(".", os.O_RDONLY)
        memory = os.open(scratch / "kernel" / "memory", os.O_RDWR)
        if keep == "mapped":
            pages = mmap.mmap(memory, 4096)
            os.close(memory)
            pages.write(b"x")
        (scratch / "kernel" / "memory").unlink()
        time.sleep(60)

    os.close(make_scratch(scratch))
    (scratch / "kernel").mkdir()
    (scratch / "kernel" / "memory").write_bytes(bytes(4096))
    left, other = fork_child(be_left), fork_child(lambda: time.sleep(60))
    wait_until(lambda: not (scratch / "kernel" / "memory").exists())
    if found == "by the command":
        reclaim(scratch)
    else:
        os.close(make_scratch(tmp_path / "wblab-y"))
    assert os.waitstatus_to_exitcode(os.waitpid(left, 0)[1]) == -signal.SIGKILL
    assert not scratch.exists()
    assert os.waitpid(other, os.WNOHANG) == (0, 0)
    os.kill(other, signal.SIGKILL)
    os.waitpid(other, 0)
    remove_scratch(tmp_path)  # pytest cannot remove directories that deep


def test_a_removed_directory_needs_no_cleanup(tmp_path):
    reclaim(tmp_path / "wblab-x")
