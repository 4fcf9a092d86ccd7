"""The buffer of captures grows while what it must keep fills it."""

from types import SimpleNamespace

import pytest

from wblab.live.runs.tracefile import Room, chosen

S, MIB = 10**9, 1 << 20
NOW_NS = 100 * S


@pytest.fixture
def buffers(tmp_path):
    """A function that makes the files of an instance with one processor, and returns the size kept, in MiB."""

    def kept(used_bytes, oldest_s, needed_s, *, most=256 * MIB, size_kb="32768"):
        place = tmp_path / "per_cpu/cpu0"
        place.mkdir(parents=True)
        place.joinpath("buffer_size_kb").write_text(f"{size_kb}\n")
        place.joinpath("stats").write_text(
            f"entries: 9\noverrun: 0\nbytes: {used_bytes}\noldest event ts: {oldest_s:5d}.000000\nnow ts:  1.0\n"
        )
        Room(SimpleNamespace(path=tmp_path), most).keep(NOW_NS - needed_s * S, NOW_NS)
        return int(place.joinpath("buffer_size_kb").read_text()) / 1024

    return kept


@pytest.mark.parametrize(
    ("used_mib", "oldest_s", "needed_s", "size_mib"),
    [
        (10, 90, 10, 32),  # all of it is needed, but there is room
        (31, 90, 10, 64),  # all of it is needed
        (31, 90, 60, 64),  # more was needed than is left
        (31, 90, 3, 32),  # the last 3 of 10 s are needed
        (31, 90, 6, 64),
    ],
)
def test_a_buffer_doubles_where_what_must_be_kept_fills_half_of_it(buffers, used_mib, oldest_s, needed_s, size_mib):
    assert buffers(used_mib * MIB, oldest_s, needed_s) == size_mib


def test_a_buffer_grows_to_its_limit_only(buffers):
    assert buffers(31 * MIB, 90, 10, most=40 * MIB) == 40


def test_what_a_kernel_tells_otherwise_changes_nothing(buffers, tmp_path):
    (tmp_path / "per_cpu/cpu1").mkdir(parents=True)  # without files
    assert buffers(31 * MIB, 90, 10) == 64


@pytest.mark.parametrize(
    ("free", "processors", "first", "most"), [(64 << 30, 4, 32, 1024), (2 << 30, 8, 16, 16), (80 * MIB, 1, 5, 5)]
)
def test_the_sizes_follow_memory_and_processors(free, processors, first, most):
    assert chosen(processors, free) == (first * MIB, most * MIB)
