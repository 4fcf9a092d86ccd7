"""Loads that read, and that write to mapped files, on a filesystem with a disk."""

import os
from dataclasses import replace
from mmap import PAGESIZE
from pathlib import Path
from random import Random

import pytest

from wblab.core.check import check_spec
from wblab.core.errors import InputError
from wblab.core.loads import Mapped, Read
from wblab.core.loads.reading import places
from wblab.core.spec import Spec
from wblab.core.streams import draw_stream
from wblab.core.tables import from_table

SIZE = 16 * PAGESIZE
READ = Read(file="a/r", size=SIZE, idle=1)
MAPPED = Mapped(file="a/m", size=SIZE, idle=1)


@pytest.fixture
def reads(monkeypatch):
    """Return the offsets read in a file, with None where it was dropped from the page cache."""
    made = []
    read, advise = os.preadv, os.posix_fadvise

    def preadv(fd, buffers, offset):
        made.append(offset)
        return read(fd, buffers, offset)

    def posix_fadvise(fd, offset, length, advice):
        assert (offset, length, advice) == (0, 0, os.POSIX_FADV_DONTNEED)
        made.append(None)
        advise(fd, offset, length, advice)

    monkeypatch.setattr(os, "preadv", preadv)
    monkeypatch.setattr(os, "posix_fadvise", posix_fadvise)
    return made


def run(load, disk, cycles):
    cycle = load.prepare(disk, draw_stream(1, "x"))
    for number in range(cycles):
        cycle(number)


@pytest.mark.parametrize("load", [READ, MAPPED])
def test_the_file_and_its_directories_are_made_first(disk, load):
    told = []
    load.lay_out(disk, lambda: told.append(1))
    path = disk / load.file
    assert (path.stat().st_size, path.stat().st_blocks * 512 >= SIZE, told) == (SIZE, True, [1])
    assert load.files == {load.file: SIZE}
    inode = path.stat().st_ino
    path.write_bytes(b"x" * SIZE)
    load.prepare(disk, Random())
    assert (path.stat().st_ino, path.read_bytes()) == (inode, b"x" * SIZE)


def test_a_file_of_another_size_is_replaced(disk):
    (disk / "a").mkdir()
    (disk / "a/r").write_bytes(b"x")
    READ.prepare(disk, Random())
    assert (disk / "a/r").read_bytes() == bytes(SIZE)


def test_a_large_file_is_written_in_pieces(disk):
    told = []
    replace(READ, size=(5 << 19)).lay_out(disk, lambda: told.append(1))
    assert ((disk / "a/r").stat().st_size, len(told)) == (5 << 19, 3)


def test_sequential_reading_wraps_around_and_drops_the_cached_file(disk, reads):
    READ.lay_out(disk)
    reads.clear()
    run(replace(READ, order="sequential", block=4 * PAGESIZE), disk, 6)
    step = 4 * PAGESIZE
    assert reads == [None, 0, step, 2 * step, 3 * step, None, 0, step]


def test_random_reading_drops_each_block_from_the_cache(disk, reads):
    READ.lay_out(disk)
    reads.clear()
    run(READ, disk, 50)
    assert reads[::2] == [None] * 51
    at = reads[1::2]
    assert {place % PAGESIZE for place in at} == {0}
    assert (len(set(at)) > 8, max(at) < SIZE) == (True, True)


def test_a_warm_file_is_read_first_and_never_dropped(disk, reads):
    READ.lay_out(disk)
    reads.clear()
    run(replace(READ, cache="warm"), disk, 2)
    assert reads[:16] == list(range(0, SIZE, PAGESIZE))
    assert (len(reads), None in reads) == (18, False)


def test_direct_reading_bypasses_the_page_cache(disk, reads):
    READ.lay_out(disk)
    reads.clear()
    cycle = replace(READ, cache="direct", block=512).prepare(disk, Random())
    (fd,) = (fd for fd in Path("/proc/self/fd").iterdir() if os.path.realpath(fd) == str(disk / "a/r"))
    flags = next(line for line in Path(f"/proc/self/fdinfo/{fd.name}").read_text().splitlines() if "flags" in line)
    assert int(flags.split()[1], 8) & os.O_DIRECT
    cycle(0)
    assert len(reads) == 1


def test_random_choices_follow_the_seed_and_the_load():
    def drawn(seed, load):
        place = places("random", 1 << 20, 4096, draw_stream(seed, load))
        return [place(number) for number in range(20)]

    assert drawn(1, "r1") == drawn(1, "r1")
    assert len({tuple(drawn(*which)) for which in ((1, "r1"), (2, "r1"), (1, "r2"))}) == 3


@pytest.mark.parametrize("msync", ["none", "sync"])
def test_a_mapped_file_is_written_page_by_page(disk, msync):
    load = replace(MAPPED, order="sequential", block=2 * PAGESIZE, msync=msync)
    run(load, disk, 11)
    content = (disk / "a/m").read_bytes()
    assert [content[at] for at in range(0, SIZE, PAGESIZE)] == [8, 8, 9, 9, 10, 10, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7]
    assert len(content) == SIZE


@pytest.mark.parametrize(
    ("load", "message"),
    [
        (replace(READ, file="/r"), "load.x.file: .* inside the mount"),
        (replace(READ, block=0), "load.x.block: give between 1 B and 16"),
        (replace(READ, size=SIZE + 1), "load.x.size: 65537 B is not a multiple of block, 4 KiB"),
        (replace(READ, size=0), "load.x.size: 0 B is not a multiple of block"),
        (replace(READ, size=1 << 30), "does not fit on a disk"),
        (replace(READ, idle=0), "load.x.idle: must be longer than 0"),
        (replace(READ, cache="direct", block=64), "load.x.block: 64 B is not a multiple of 512"),
        (replace(MAPPED, block=64), "load.x.block: 64 B is not a multiple of a page, 4096 B"),
        (replace(MAPPED, size=PAGESIZE + 1), "load.x.size: .* is not a multiple of block"),
        (replace(MAPPED, idle=-1), "load.x.idle: must be longer than 0"),
    ],
)
def test_invalid_parameters_are_refused_before_a_run(load, message, table):
    spec = from_table(Spec, table)
    with pytest.raises(InputError, match=message):
        check_spec(replace(spec, load=spec.load | {"x": load}))


@pytest.mark.parametrize(
    ("load", "words"),
    [
        (replace(READ, idle=10**8), "reads 4 KiB at random, cold, every 100 ms"),
        (replace(READ, idle=10**8, order="sequential", cache="warm"), "reads 4 KiB in order, warm, every 100 ms"),
        (replace(MAPPED, idle=10**8), "writes to 4 KiB of a mapped file, at random, every 100 ms"),
        (replace(MAPPED, idle=10**8, msync="sync"), "writes to 4 KiB of a mapped file, at random, msync, every 100 ms"),
    ],
)
def test_a_load_describes_itself_for_pictures(load, words):
    assert load.description == words
