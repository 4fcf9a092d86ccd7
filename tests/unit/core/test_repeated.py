import ctypes
import os
import time
from errno import ENOSYS

import pytest

from wblab.core.loads.repeated import KernelCycles, Repeated, Sleeping, Words, Writing, writing

MS = 1_000_000


@pytest.fixture
def fd(tmp_path):
    fd = os.open(tmp_path / "file", os.O_RDWR | os.O_CREAT)
    yield fd
    os.close(fd)


def test_each_cycle_makes_its_calls_and_the_first_one_an_extra_call(fd):
    said = []
    cycle = Repeated(Writing(fd, bytearray(b"abc")), before=lambda: said.append("before"))
    for number in range(3):
        cycle(number)
    assert os.pread(fd, 100, 0) == b"abcabcabc"
    assert said == ["before"]


def test_the_sleep_is_a_call(fd):
    begin = time.monotonic_ns()
    Repeated(Sleeping(2 * MS))(0)
    assert time.monotonic_ns() - begin >= 2 * MS


def test_a_write_is_a_call_with_its_file_address_and_length(fd):
    block = bytearray(b"hello")
    ((number, (where, address, length)),) = Writing(fd, block).words
    assert (number, where, length) == (1, fd, 5)
    assert ctypes.string_at(address, length) == b"hello"


def test_a_sleep_is_a_deadline_and_a_wait_for_it():
    sleeping = Sleeping(7 * MS)
    deadline, sleep = sleeping.words
    assert deadline.number == 2**64 - 1
    assert deadline.arguments[1] == 7 * MS
    assert sleep == Words(230, (time.CLOCK_MONOTONIC, 1, deadline.arguments[0], 0))


def test_the_structure_has_the_kernel_s_layout():
    cycles = KernelCycles([Words(1, (3, 4, 5)), Words(74, (3,))], count=1000, times=2000)
    words = list(cycles._memory)
    assert words[:5] == [0, 2, 0, 1000, 2000]  # next, length, limit, count, times
    assert words[5:12] == [1, 3, 4, 5, 0, 0, 0]
    assert words[12:] == [74, 3, 0, 0, 0, 0, 0]


def test_a_write_without_the_cache_has_its_flag_and_is_made_one_by_one(monkeypatch, fd):
    made = []
    monkeypatch.setattr(os, "pwritev", lambda *arguments: made.append(arguments))
    write = writing(fd, 3, dontcache=True)
    write()
    assert made == [(fd, [bytearray(3)], -1, 0x80)]  # at the file's position; RWF_DONTCACHE
    assert Repeated(write, Sleeping(MS)).in_kernel(0, 0) is None


def test_a_kernel_without_batches_reports_it(fd):
    cycles = Repeated(Writing(fd, bytearray(1))).in_kernel(0, 0)
    with pytest.raises(OSError, match=os.strerror(ENOSYS)):
        cycles(2)
