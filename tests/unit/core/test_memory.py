"""A load that uses memory of its own."""

import os
from dataclasses import replace
from mmap import PAGESIZE
from pathlib import Path
from random import Random

import pytest

from wblab.core.child import fork_child
from wblab.core.errors import InputError
from wblab.core.loads import Memory
from wblab.core.units import Bytes, Nanoseconds

MIB = 1 << 20
MEMORY = Memory(size=Bytes(16 * MIB), block=Bytes(MIB), idle=Nanoseconds(1000))


def anonymous_bytes() -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith("RssAnon:"))


@pytest.mark.parametrize(
    ("grows", "used", "before", "after"), [(False, 100, 16, 16), (True, 100, 0, 8), (True, 25, 0, 4)]
)
def test_a_load_has_its_memory_at_once_or_takes_it_as_it_goes(grows: bool, used: int, before: int, after: int) -> None:
    def task() -> None:
        load = replace(MEMORY, order="sequential", grows=grows, used=used)
        had = anonymous_bytes()
        cycle = load.prepare(Path("/nowhere"), Random(1))
        assert abs(anonymous_bytes() - had - before * MIB) < MIB
        for number in range(8):
            cycle(number)
        assert abs(anonymous_bytes() - had - after * MIB) < MIB

    assert os.waitpid(fork_child(task), 0)[1] == 0


@pytest.mark.parametrize(
    ("load", "message"),
    [
        (replace(MEMORY, block=64), "load.x.block: 64 B is not a multiple of a page, 4096 B"),
        (replace(MEMORY, size=MIB + PAGESIZE), "load.x.size: .* is not a multiple of block"),
        (replace(MEMORY, used=0), "load.x.used: 0 is not between 1 and 100 per cent"),
        (replace(MEMORY, used=5), "load.x.used: 5 % of size are less than block"),
        (replace(MEMORY, idle=0), "load.x.idle: must be longer than 0"),
    ],
)
def test_invalid_parameters_are_refused(load: Memory, message: str) -> None:
    with pytest.raises(InputError, match=message):
        load.check("load.x.")


def test_what_it_takes_before_the_loads_start_is_not_the_specs_memory() -> None:
    assert [replace(MEMORY, grows=grows).held_bytes for grows in (False, True)] == [16 * MIB, 0]


def test_a_load_describes_itself_for_pictures() -> None:
    slow = replace(MEMORY, idle=10**8)
    assert slow.description == "writes to 1 MiB of 16 MiB of memory, at random, every 100 ms"
    part = replace(slow, used=50, grows=True, order="sequential")
    assert (
        part.description
        == "writes to 1 MiB of 50 % of 16 MiB of memory, which it takes as it goes, in order, every 100 ms"
    )
