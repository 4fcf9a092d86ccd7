"""Limits of resources, sample by sample. test_reaper checks with real processes that all resources are found."""

import pytest

from wblab.host.limits import LimitWatch, ProcessBounds, ProcessUsage
from wblab.host.unlinked import Unlinked

NOTHING = Unlinked(0, 0, 0, 0, 0)
HIDES = "its processes hide files that they hold in memory"


@pytest.fixture
def look(tmp_path):
    """Return a function that checks the limits for one process with these resources, look by look."""
    seen = {}
    usage = ProcessUsage(lambda pids: 1000, lambda pids: seen["tables"], lambda pids, on, most: seen["files"])
    looked = LimitWatch(ProcessBounds(own_bytes=500, memory_bytes=1 << 20, processes=3), tmp_path, usage)

    def excess(files, page_table_bytes=0):
        seen.update(files=files, tables=page_table_bytes)
        return looked.excess([1])

    return excess


def test_the_guest_s_own_resources_do_not_count(look):
    room = (1 << 20) - 1000
    assert look(Unlinked(500 + room, 0, 0, 0, 0)) == ""
    assert look(Unlinked(501 + room, 0, 0, 0, 0)) == "its processes took more than 1 MiB of memory"


def test_what_the_host_s_kernel_needs_for_them_counts(look):
    room = ((1 << 20) - 1000) // 256
    assert look(Unlinked(0, 0, 0, 0, 0, room)) == ""
    assert look(Unlinked(0, 0, 0, 0, 0, room + 1)) == "its processes took more than 1 MiB of memory"
    assert look(Unlinked(0, 0, 0, 0, 0, (1 << 20) + 1)) == "its processes had more than 1,048,576 mappings"
    assert look(NOTHING, page_table_bytes=1 << 20) == "its processes took more than 1 MiB of memory"


def test_too_many_processes_are_an_error(tmp_path):
    look = LimitWatch(ProcessBounds(0, 0, 3), tmp_path)
    assert look.excess([1, 2, 3, 4]) == "it had more than 3 processes"


def test_unreadable_processes_count_as_hiding_something(look):
    assert look(Unlinked(0, 0, 0, 0, 1)) == HIDES


@pytest.mark.parametrize(("what", "most"), [(Unlinked(0, 1, 0, 0, 0), 3), (Unlinked(0, 0, 1, 1, 0), 10)])
def test_unreadable_resources_are_tolerated_briefly(look, what, most):
    for _ in range(3):
        assert [look(what) for _ in range(most - 1)] == [""] * (most - 1)
        assert look(NOTHING) == ""
    assert [look(what) for _ in range(most)] == [""] * (most - 1) + [HIDES]


@pytest.mark.parametrize("much", [Unlinked(0, 0, 65, 1, 0), Unlinked(0, 0, 0, 7, 0)])
def test_too_many_sockets_and_passed_descriptors_are_an_error(look, much):
    assert look(much) == "its processes have too many sockets, pipes, or files in them"
