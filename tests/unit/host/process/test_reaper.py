import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path

import pytest
from support.processes import alive, descendants
from support.waiting import LIMIT_S, wait_until

from wblab.core.child import fork_child
from wblab.core.layout import DISK_FD
from wblab.host.disks.mkfs import DISK_PATH, Mkfs
from wblab.host.process import reaper
from wblab.host.process.reaper import ConfinedCommand
from wblab.lab.packages import tool_path
from wblab.lab.places import ROOT

MAIN = """
import json, sys
sys.path.insert(0, sys.argv[1])
from wblab.host.process.reaper import ConfinedCommand, main
main(ConfinedCommand(**json.loads(sys.argv[2])))
"""


@pytest.fixture
def reaped(tmp_path):
    """Start a reaper of a shell command; return it and our end of its control socket."""
    (tmp_path / "run").mkdir()
    started = []

    def start(shell, stdout=subprocess.PIPE, *, memory_bytes=1 << 30, processes=100, own_bytes=0, mkfs=()):
        near, far = socket.socketpair()
        disk = os.memfd_create("disk")
        with far, open(disk, "rb"):
            os.ftruncate(disk, 8 << 20)
            command = ["/bin/sh", "-c", shell]
            run, scratch = str(tmp_path / "run"), str(tmp_path / "scratch")
            sandbox = {"runs": ["/"], "reads": ["/"], "keeps": [run, scratch], "calls": ""}
            order = ConfinedCommand(
                far.fileno(),
                run,
                scratch,
                "",
                {},
                command,
                {DISK_FD: disk},
                sandbox,
                list(mkfs),
                own_bytes,
                memory_bytes,
                processes,
            )
            arguments = [sys.executable, "-I", "-S", "-c", MAIN, str(ROOT), json.dumps(asdict(order))]
            process = subprocess.Popen(
                arguments,
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=subprocess.DEVNULL,
                pass_fds=[far.fileno(), disk],
            )
        started.append((process, near))
        return process, near

    yield start
    for process, near in started:
        near.close()
        process.wait(LIMIT_S)
        if process.stdout:
            process.stdout.close()


@pytest.mark.parametrize(("shell", "status"), [("exit 0", 0), ("exit 3", 3 << 8), ("kill -9 $$", 9)])
def test_the_reply_is_the_wait_status(reaped, tmp_path, shell, status):
    process, near = reaped(shell)
    assert process.stdout.readline().split() == [str(status).encode()]
    assert (tmp_path / "scratch").exists()  # until its parent has read what it needs
    near.close()
    assert process.wait(LIMIT_S) == 0
    assert not (tmp_path / "scratch").exists()


def test_a_byte_ends_the_command(reaped):
    process, near = reaped("trap '' TERM INT HUP; while :; do sleep 60; done")
    near.send(b"x")
    assert int(process.stdout.readline()) == signal.SIGKILL


def test_a_command_that_takes_too_much_memory_is_ended(reaped):
    process, _ = reaped(
        f"exec {sys.executable} -c 'kept = bytearray(60 << 20); input()' < /dev/zero", memory_bytes=30 << 20
    )
    status, _, reason = process.stdout.readline().decode().strip().partition(" ")
    assert (int(status), reason) == (
        signal.SIGKILL,
        "the guest was ended: its processes took more than 30 MiB of memory",
    )


KEEPS = """
import ctypes, os, socket, threading, time

def kept(fd):
    for _ in range(60):
        os.write(fd, bytes(1 << 20))
    return fd

def stay():
    while True:
        time.sleep(60)

def memfd():
    return kept(os.memfd_create("kept"))

def unlinked():
    name = scratch + "/kernel/kept"
    fd = os.open(name, os.O_RDWR | os.O_CREAT)
    os.unlink(name)
    kept(fd)

def map_it(size, flags, fd):
    call = ctypes.CDLL(None).mmap
    call.restype = ctypes.c_void_p
    return call(None, ctypes.c_size_t(size), 3, flags, fd, 0)

def mapped():
    fd = memfd()
    map_it(4096, 1, fd)
    os.close(fd)

def shared():
    # All but one page of a shared anonymous mapping are unmapped; the written memory remains.
    at = map_it(60 << 20, 0x21, -1)
    ctypes.memset(at, 1, 60 << 20)
    ctypes.CDLL(None).munmap(ctypes.c_void_p(at + 4096), ctypes.c_size_t((60 << 20) - 4096))

def under_way():
    near, far = globals()["pair"] = socket.socketpair()
    fd = memfd()
    socket.send_fds(near, [b"x"], [fd])
    os.close(fd)

def of_a_thread():
    def task():
        ctypes.CDLL(None).unshare(0x400)  # CLONE_FILES
        memfd()
        stay()
    threading.Thread(target=task).start()
    ctypes.CDLL(None).pthread_exit(None)  # the first thread has ended, and has neither files nor memory

def of_an_orphan():
    if not os.fork():
        if not os.fork():
            os.setsid()
            globals()["kept"] = bytearray(60 << 20)
            stay()
        os._exit(0)

def page_tables():
    # One page in each 2 MiB is touched: the memory is that of one file of 2 MiB, each mapping has a table of its own.
    fd = os.memfd_create("small")
    os.ftruncate(fd, 2 << 20)
    for _ in range(10_000):
        ctypes.memset(map_it(2 << 20, 1, fd), 1, 1)

def mappings():
    # Every other page may not be written to, so that none is joined with its neighbour.
    for _ in range(3):
        if not os.fork():
            at = map_it(60_000 * 4096, 0x22, -1)
            for page in range(0, 60_000, 2):
                ctypes.CDLL(None).mprotect(ctypes.c_void_p(at + page * 4096), 4096, 1)
            stay()

"""


@pytest.mark.parametrize("how", re.findall(r"^def (\w+)\(\):", KEEPS, re.MULTILINE)[1:])
def test_all_kinds_of_kept_memory_count(reaped, tmp_path, how):
    """A real attack: 3.3 GB in nameless files, and the run succeeded."""
    script = tmp_path / "run" / "script"
    script.write_text(f"scratch = {str(tmp_path / 'scratch')!r}\n{KEEPS}\n{how}()\nstay()\n")
    process, _ = reaped(f"exec {sys.executable} -IS {script}", memory_bytes=30 << 20)
    status, _, reason = process.stdout.readline().decode().strip().partition(" ")
    assert int(status) == signal.SIGKILL
    assert reason in (
        "the guest was ended: its processes took more than 30 MiB of memory",
        "the guest was ended: its processes hide files that they hold in memory",
    )


def test_the_guests_own_memory_and_disks_do_not_count(reaped, tmp_path):
    script = tmp_path / "run" / "script"
    script.write_text(f"scratch = ''\n{KEEPS}\nmemfd()\ntime.sleep(3)\n")
    process, _ = reaped(f"exec {sys.executable} -IS {script}", memory_bytes=30 << 20, own_bytes=60 << 20)
    assert process.stdout.readline().split() == [b"0"]


def test_a_command_with_too_many_processes_is_ended(reaped):
    process, _ = reaped("for i in 1 2 3 4 5 6; do sleep 60 & done; wait", processes=5)
    assert process.stdout.readline().decode().endswith(" the guest was ended: it had more than 5 processes\n")


ENDLESS = asdict(Mkfs([tool_path("mke2fs"), "-q", "-F", "-t", "ext4", "-E", f"offset={1 << 40}", DISK_PATH], 8 << 20))


def tool_of(process):
    return [pid for pid, name in descendants(process.pid).items() if name == "mke2fs"]


@pytest.mark.parametrize("word", [b"x", b""], ids=["cancelled", "parent died"])
def test_a_cancelled_mkfs_is_ended(reaped, tmp_path, word):
    """A real failure: with -E offset=1T, neither Ctrl-C nor SIGKILL of the command ended mke2fs."""
    process, near = reaped("echo > begun", mkfs=[ENDLESS])
    tools = wait_until(lambda: tool_of(process))
    if word:
        near.send(word)
        assert process.stdout.readline() == b"32512 \n"  # of a command that was not started
    near.close()
    process.wait(LIMIT_S)
    assert not any(alive(pid) for pid in tools)
    assert not (tmp_path / "scratch").exists()


def test_a_failing_mkfs_is_reported_with_the_reason(reaped):
    process, _ = reaped("exit 0", mkfs=[ENDLESS | {"command": [tool_path("mke2fs"), "-X", DISK_PATH]}])
    answer = process.stdout.readline().decode()
    assert answer.startswith("32512 mke2fs failed on the disk: check disk.mkfs_options: ")


def test_signals_of_the_terminal_do_not_end_the_reaper(reaped, tmp_path):
    process, near = reaped(f"echo > {tmp_path}/run/begun; read line < /dev/null; sleep 60")
    wait_until((tmp_path / "run" / "begun").exists)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        process.send_signal(number)
    near.send(b"x")
    assert int(process.stdout.readline()) == signal.SIGKILL


def test_a_parent_that_reads_no_reply_leaves_nothing_behind(reaped, tmp_path):
    read, write = os.pipe()
    process, near = reaped("sleep 0.2", stdout=write)
    os.close(write)
    os.close(read)
    time.sleep(0.5)
    near.close()
    process.wait(LIMIT_S)
    assert not (tmp_path / "scratch").exists()


def test_descriptors_get_their_fixed_numbers(tmp_path):
    def task():
        one, two = (os.open(tmp_path / name, os.O_WRONLY | os.O_CREAT) for name in ("one", "two"))
        os.dup2(one, 11)
        os.dup2(two, 10)
        reaper.place({10: 11, 11: 10, 12: one})
        assert [os.path.basename(os.readlink(f"/proc/self/fd/{fd}")) for fd in (10, 11, 12)] == ["one", "two", "one"]
        for fd in (10, 11, 12):
            assert os.get_inheritable(fd)
        left = set()
        for fd in range(3, 200):
            try:
                os.fstat(fd)
                left.add(fd)
            except OSError:
                pass
        assert left == {10, 11, 12}

    assert os.waitpid(fork_child(task), 0)[1] == 0


def test_the_reaper_s_children_are_known():
    before = reaper.children()
    pid = fork_child(lambda: time.sleep(60))
    assert set(reaper.children()) - set(before) == {pid}
    reaper.kill(pid)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGKILL


def test_killing_an_ended_process_is_no_error():
    pid = fork_child(lambda: None)
    os.waitpid(pid, 0)
    reaper.kill(pid)


@pytest.mark.parametrize("content", [None, "", "{", "[]", "3"])
def test_a_record_that_cannot_be_updated_is_left_as_it_is(tmp_path, content):
    record = Path(tmp_path, "experiment.json")
    if content is not None:
        record.write_text(content)
    reaper.note(tmp_path)
    assert (record.read_text() if record.exists() else None) == content
