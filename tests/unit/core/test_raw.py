import os
from random import Random

import pytest
from support.descriptors import nothing_stays_open

from wblab.core.errors import InputError
from wblab.core.loads import Chunks, Raw, RawOffender
from wblab.core.loads import raw as raw_loads

KIB = 1024


@pytest.fixture
def device(tmp_path):
    """A file in place of a device."""
    path = tmp_path / "device"
    path.write_bytes(b"\xff" * 64 * KIB)
    return path


def test_raw_writes_fill_their_range_of_the_device_in_order(device):
    load = Raw(idle=1, size=8 * KIB, offset=4 * KIB, op="write", order="sequential")
    cycle = load.prepare(device, Random())
    cycle(0)
    assert device.read_bytes() == b"\xff" * 4 * KIB + bytes(4 * KIB) + b"\xff" * 56 * KIB
    cycle(1)
    cycle(2)
    assert device.read_bytes() == b"\xff" * 4 * KIB + bytes(8 * KIB) + b"\xff" * 52 * KIB
    assert (load.files, load.cycle_bytes, load.ends) == ({"": 12 * KIB}, 4 * KIB, False)


def test_raw_reads_change_nothing_and_follow_the_seed(device, monkeypatch):
    drawn = []
    monkeypatch.setattr(raw_loads.os, "preadv", lambda fd, buffers, at: drawn.append(at))
    for _ in range(2):
        cycle = Raw(idle=1, size=64 * KIB, block=512).prepare(device, Random(1))
        for number in range(20):
            cycle(number)
    assert drawn[:20] == drawn[20:]
    assert len(set(drawn)) > 10
    assert all(0 <= at < 64 * KIB and at % 512 == 0 for at in drawn)


def test_a_raw_offender_writes_its_size_and_ends(device):
    load = RawOffender(wait=0, size=32 * KIB, block=8 * KIB)
    cycle = load.prepare(device, Random())
    for number in range(load.capacity):
        cycle(number)
    assert (load.capacity, load.ends, load.role) == (4, True, "offender")
    assert device.read_bytes() == bytes(32 * KIB) + b"\xff" * 32 * KIB


def test_raw_loads_refuse_a_real_machine_s_device(device, monkeypatch):
    monkeypatch.setattr(raw_loads, "S_ISBLK", lambda mode: True)
    with nothing_stays_open():
        for load in (Raw(idle=1, size=KIB, op="write"), RawOffender(wait=0, size=4 * KIB)):
            with pytest.raises(PermissionError, match="only inside a guest"):
                load.prepare(device, Random())
    Raw(idle=1, size=4 * KIB).prepare(device, Random())(0)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"offset": 100}, "offset: 100 is not a multiple of 512"),
        ({"offset": -512}, "offset: -512 is no"),
        ({"size": 5000}, "size: 5 kB is not a multiple of block"),
        ({"size": 0}, "size: 0 B is not"),
        ({"size": 600, "block": 600, "through": "direct"}, "block: 600 B is not a multiple of 512"),
        ({"idle": 0}, "idle: must be longer than 0"),
    ],
)
def test_invalid_raw_loads_are_refused(changes, message):
    with pytest.raises(InputError, match=message):
        Raw(**({"idle": 1, "size": 8 * KIB} | changes)).check()


def written(path, load, monkeypatch):
    """Run a load to its end; return the file, and the calls after each write."""
    calls = []
    monkeypatch.setattr("wblab.core.loads.chunks.os.fsync", lambda fd: calls.append((number, "fsync")))
    monkeypatch.setattr("wblab.core.loads.chunks.os.sync", lambda: calls.append((number, "sync")))
    load.check()
    cycle = load.prepare(path, Random())
    for number in range(load.capacity):
        cycle(number)
    return path / next(iter(load.files)), calls


def test_chunks_are_written_in_order_and_synced_after_their_writes(tmp_path, monkeypatch):
    ends = []
    real = os.pwrite
    monkeypatch.setattr(
        "wblab.core.loads.chunks.os.pwrite", lambda fd, data, at: ends.append(at + len(data)) or real(fd, data, at)
    )
    load = Chunks(file="f", wait=0, size=8 * KIB, order="3012", fsync="1000", sync="0101")
    file, calls = written(tmp_path, load, monkeypatch)
    assert ends == [8 * KIB, 2 * KIB, 4 * KIB, 6 * KIB]
    assert calls == [(0, "fsync"), (1, "sync"), (3, "sync")]
    assert file.stat().st_size == 8 * KIB


@pytest.mark.parametrize(("density", "total"), [(20, 4 * 409), (100, 8192), (140, 8192 + 4 * 819)])
def test_only_the_last_bytes_of_each_chunk_are_written(tmp_path, monkeypatch, density, total):
    sizes = []
    real = os.pwrite
    monkeypatch.setattr(
        "wblab.core.loads.chunks.os.pwrite", lambda fd, data, at: sizes.append(len(data)) or real(fd, data, at)
    )
    file, _ = written(tmp_path, Chunks(file="f", wait=0, size=8 * KIB, density=density), monkeypatch)
    assert sum(sizes) == total
    assert file.stat().st_size == 8 * KIB


def test_two_files_are_written_chunk_by_chunk_in_turn(tmp_path, monkeypatch):
    writes = []
    real = os.pwrite
    monkeypatch.setattr(
        "wblab.core.loads.chunks.os.pwrite",
        lambda fd, data, at: writes.append((os.readlink(f"/proc/self/fd/{fd}")[-1], at)) or real(fd, data, at),
    )
    load = Chunks(file="f", wait=0, size=2 * KIB, order="10", fsync="01", sync="10", file_count=2, density=150)
    _, calls = written(tmp_path, load, monkeypatch)
    first = [("0", KIB), ("1", KIB), ("0", 0), ("1", 0)]
    assert writes == [*first, *((name, at + KIB // 2) for name, at in first)]
    assert calls == [(n, "sync" if n % 4 < 2 else "fsync") for n in range(8)]
    assert load.files == {"f.0": 2 * KIB, "f.1": 2 * KIB}
    assert {name: (tmp_path / name).stat().st_size for name in load.files} == load.files


@pytest.mark.parametrize(
    ("span", "count", "files"),
    [
        (0, 2, ["a/f.0", "a/f.1"]),
        (1, 1, ["a/dir.3/f"]),
        (1, 2, ["a/dir.3/f.0", "a/dir.3/f.1"]),
        (4, 1, ["a/dir.6/f"]),
        (5, 2, ["a/dir.3/f.0", "a/dir.3/dir.7/f.1"]),
        (12, 2, ["a/dir.3/f.0", "a/dir.6/dir.14/f.1"]),
    ],
)
def test_files_are_in_a_tree_of_directories(tmp_path, monkeypatch, span, count, files):
    load = Chunks(file="a/f", wait=0, size=8 * KIB, span=span, file_count=count)
    assert list(load.files) == files
    load.lay_out(tmp_path)
    load.lay_out(tmp_path)
    made = list(tmp_path.rglob("dir.*"))
    assert len(made) == (28 if span else 0)
    assert max((len(path.relative_to(tmp_path).parts) for path in made), default=4) == 4
    written(tmp_path, load, monkeypatch)
    assert all((tmp_path / name).is_file() for name in files)


def test_chunks_may_wait_for_each_other(monkeypatch, tmp_path):
    slept = []
    monkeypatch.setattr("wblab.core.loads.chunks.time.sleep", slept.append)
    load = Chunks(file="f", wait=3 * 10**9, size=8 * KIB, idle=10**9)
    written(tmp_path, load, monkeypatch)
    assert slept == [3, 1, 1, 1]
    assert [load.idle_ns(number) for number in range(3)] == [3 * 10**9, 10**9, 10**9]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"order": "0124"}, "order: '0124' must have each digit"),
        ({"order": ""}, "order: '' must have each digit"),
        ({"fsync": "01"}, "fsync: '01' is not 4 digits"),
        ({"sync": "0002"}, "sync: '0002' is not 4 digits"),
        ({"density": 0}, "density: 0 is not between"),
        ({"size": 8191}, "size: 8191 B is not a multiple of its 4 chunks"),
        ({"file": "/x"}, "file: '/x' must be a file inside"),
        ({"file_count": 3}, "file_count: 3 is not between 1 and 2"),
        ({"span": 13}, "span: 13 is not between 0 and 12"),
        ({"idle": -1}, "idle: -1 is negative"),
    ],
)
def test_invalid_chunks_are_refused(changes, message):
    with pytest.raises(InputError, match=message):
        Chunks(**({"file": "f", "wait": 0, "size": 8192} | changes)).check()
