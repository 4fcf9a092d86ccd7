"""The main loop that serves objects: its I/O, and the tasks that do it."""

import os
import signal
import threading
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from support.waiting import wait_until

from wblab.core.child import fork_child
from wblab.core.cycles import Ending, ending, run_cycles, stamps_for
from wblab.core.errors import InputError
from wblab.core.loads import Serve
from wblab.core.loads.engines import ENGINES, NAMES, Call, perform
from wblab.core.loads.stores import STORES, lay_out_objects

MS = 1_000_000
SERVE = Serve(file="a/o", idle=1, block=4096, objects=40, depth=8)
STORED = ["files", "packed", "cyclic"]


def has(paradigm):
    """Whether this machine's kernel and C library have it; a sandbox may forbid io_uring."""
    try:
        ENGINES[paradigm](1).close()
    except OSError:
        return False
    return True


PARADIGMS = [
    pytest.param(name, marks=[] if has(name) else pytest.mark.xfail(raises=OSError, strict=True)) for name in ENGINES
]


@pytest.mark.parametrize("store", STORED)
@pytest.mark.parametrize("paradigm", PARADIGMS)
def test_a_server_serves_and_leaves_nothing_behind(disk, paradigm, store):
    load = replace(SERVE, paradigm=paradigm, store=store)
    threads = threading.active_count()
    cycle = load.prepare(disk, Random(1))
    before = os.listdir("/proc/self/fd")
    dropped = sum(bool(cycle(number)) for number in range(300))
    assert dropped < 300
    load.finish(cycle)
    assert threading.active_count() == threads
    assert len(os.listdir("/proc/self/fd")) <= len(before) + load.depth  # the open files at its end
    if store == "files":
        made = [path for path in (disk / "a/o").rglob("*") if path.is_file()]
        assert load.objects - load.depth <= len(made) <= load.objects


@pytest.fixture
def calls(disk):
    """Return a function that does a store's work directly and returns its calls."""

    def done(work):
        made, result = [], None
        while True:
            try:
                call = next(work) if result is None else work.send(result)
            except StopIteration:
                return made
            made.append(call)
            result = perform(call)

    return done


def made(disk, kind, count, block, cold=True):
    lay_out_objects(kind, disk / "s", count, block, lambda: None)
    return STORES[kind](disk / "s", count, block, cold)


def test_an_object_in_its_own_file_takes_calls_by_name(disk, calls):
    store = made(disk, "files", 4, 4096)
    assert [call.name for call in calls(store.get(3))] == ["open", "read", "close"]
    assert [call.name for call in calls(store.put(3))] == ["unlink", "open", "write", "close"]
    assert (disk / "s/03/00/00000003").read_bytes() == bytes(4096)


def test_a_packed_object_takes_one_call_at_its_offset(disk, calls):
    store = made(disk, "packed", 4, 4096)
    assert [(call.name, call.offset) for call in calls(store.get(3))] == [("read", 3 * 4096)]
    assert [(call.name, call.offset) for call in calls(store.put(2))] == [("write", 2 * 4096)]
    assert (disk / "s").stat().st_size == 4 * 4096


def test_a_cyclic_log_overwrites_one_segment_at_a_time(disk, calls):
    block, half = 256 << 10, 512 << 10  # four objects in a segment
    store = made(disk, "cyclic", 8, block)
    assert (disk / "s").stat().st_size == 8 * block
    assert [call.offset for call in calls(store.get(5))] == [5 * block]
    assert calls(store.put(6)) == []
    assert calls(store.get(6)) == [], "it is in memory until its segment is written"
    assert [calls(store.put(number)) for number in (4, 5)] == [[], []]
    ((name, _, data, offset, *_),) = calls(store.get(0))  # lost and stored again, at the end of the segment
    assert (name, len(data), offset) == ("write", 2 * half, 0)
    assert [call.offset for call in calls(store.get(6))] == [0]
    assert calls(store.get(1)) == [], "lost as well, and put into the next segment, in memory"
    assert [call.offset for call in calls(store.get(0))] == [3 * block]


@pytest.mark.parametrize("kind", STORED)
def test_an_existing_store_is_reused(disk, kind):
    lay_out_objects(kind, disk / "s", 20, 4096, lambda: None)
    path = disk / "s" if kind != "files" else disk / "s/05/00/00000005"
    inode = path.stat().st_ino
    path.write_bytes(b"x" * path.stat().st_size)
    lay_out_objects(kind, disk / "s", 20, 4096, lambda: None)
    assert (path.stat().st_ino, set(path.read_bytes())) == (inode, {ord("x")})


@pytest.mark.parametrize("paradigm", PARADIGMS)
def test_all_paradigms_make_equivalent_calls(disk, paradigm):
    engine = ENGINES[paradigm](4)
    path = str(disk / "f")

    def through(call):
        if call.name not in engine.accepts:
            return engine.perform(call)
        engine.submit(7, call)
        done = []
        wait_until(lambda: done.extend(engine.reap()) or done)
        ((number, result),) = done
        assert (number, engine.waiting) == (7, 0)
        return result

    fd = through(Call("open", path=path, flags=os.O_RDWR | os.O_CREAT))
    assert through(Call("write", fd, b"0123456789" * 1000, 4000)) == 10_000
    assert Path(path).read_bytes() == bytes(4000) + b"0123456789" * 1000
    buffer = bytearray(5000)
    assert through(Call("read", fd, buffer, 5000)) == 5000
    if paradigm not in ("mmap", "sendfile"):  # which have no private copy
        assert buffer == b"0123456789" * 500
    through(Call("close", fd))
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(fd)
    through(Call("unlink", path=path))
    assert not Path(path).exists()
    engine.close()


@pytest.mark.parametrize("paradigm", [name for name in ENGINES if has(name)])
def test_a_call_that_fails_ends_the_loop_with_the_reason(disk, monkeypatch, paradigm):
    monkeypatch.setattr("wblab.core.loads.serve.lay_out_objects", lambda *where: None)
    load = replace(SERVE, paradigm=paradigm, put_every=0)
    stamps = stamps_for(load)
    os.waitpid(fork_child(lambda: run_cycles(load, disk, stamps, time.monotonic_ns(), Random(1))), 0)
    ended = ending(stamps)
    assert (ended.end, ended.error) == ("failed", "No such file or directory")


def test_calls_not_handed_over_are_made_by_the_loop(disk, monkeypatch):
    own, handed = Counter(), Counter()
    engine = ENGINES["threads"]
    monkeypatch.setattr(engine, "perform", lambda self, call: own.update([call.name]) or perform(call))
    submit = engine.submit
    monkeypatch.setattr(engine, "submit", lambda self, n, call: handed.update([call.name]) or submit(self, n, call))
    load = replace(SERVE, paradigm="threads", async_calls=("open", "read", "unlink"), put_every=2, idle=MS)
    cycle = load.prepare(disk, Random(1))
    for number in range(60):
        cycle(number)
    load.finish(cycle)
    assert (set(own), set(handed)) == ({"write", "close"}, {"open", "read", "unlink"})


def test_work_without_room_in_the_queue_is_dropped(disk, monkeypatch):
    free = threading.Event()
    monkeypatch.setattr("wblab.core.loads.engines.perform", lambda call: free.wait() and perform(call))
    load = replace(SERVE, paradigm="threads", depth=3)
    cycle = load.prepare(disk, Random(1))
    assert [cycle(number) for number in range(5)] == [False] * 3 + [True] * 2
    free.set()
    load.finish(cycle)


@pytest.mark.parametrize("paradigm", PARADIGMS)
def test_a_stopped_server_ends_in_order(disk, paradigm):
    load = replace(SERVE, paradigm=paradigm, idle=MS)
    stamps = stamps_for(load)
    load.lay_out(disk)
    if not has(paradigm):
        raise OSError
    pid = fork_child(lambda: run_cycles(load, disk, stamps, time.monotonic_ns(), Random(1)))
    wait_until(lambda: len(stamps.times_ns()) >= 20)
    os.kill(pid, signal.SIGTERM)
    assert os.waitpid(pid, 0)[1] == 0
    assert ending(stamps).end == "stopped"


def test_a_kernel_without_io_uring_is_named(disk, monkeypatch):
    def refused(entries):
        raise OSError(38, "this kernel has no io_uring, or forbids it: choose another paradigm")

    monkeypatch.setattr("wblab.core.uring.Ring", refused)
    load = replace(SERVE, paradigm="io_uring")
    stamps = stamps_for(load)
    os.waitpid(fork_child(lambda: run_cycles(load, disk, stamps, time.monotonic_ns(), Random(1))), 0)
    assert ending(stamps) == Ending("failed", "this kernel has no io_uring, or forbids it: choose another paradigm")


@pytest.mark.parametrize(
    ("load", "message"),
    [
        (replace(SERVE, file="/o"), "x.file: .* inside the mount"),
        (replace(SERVE, idle=0), "x.idle: must be longer than 0"),
        (replace(SERVE, block=100), "x.block: 100 B is not a multiple of a page"),
        (replace(SERVE, depth=0), "x.depth: 0 is not between 1 and 256"),
        (replace(SERVE, objects=8), r"x.objects: 8 is not between depth \+ 1 and 65536"),
        (replace(SERVE, put_every=-1), "x.put_every: -1 is negative"),
    ],
)
def test_invalid_parameters_are_refused_before_a_run(load, message):
    with pytest.raises(InputError, match=message):
        load.check("x.")


def test_a_load_describes_itself_for_pictures():
    load = replace(SERVE, idle=10**8, store="cyclic", paradigm="aio")
    assert load.description == "a main loop that serves 4 KiB from a cyclic log by POSIX AIO, every 100 ms"
    assert {replace(load, paradigm=name).description for name in ENGINES} >= {load.description}
    assert set(load.async_calls) == set(NAMES)
