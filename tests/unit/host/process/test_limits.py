import os
import time
from contextlib import contextmanager
from dataclasses import replace

import pytest

from wblab.host.process.limits import (
    Limits,
    LimitWatch,
    OverLimitError,
    ProcessBounds,
    ProcessUsage,
    check_files,
    check_own,
    check_said,
    check_wall,
)
from wblab.host.process.unlinked import Unlinked
from wblab.host.process.usage import remove_scratch

LIMITS = Limits(wall_s=10.0, said_bytes=100, output_bytes=1 << 20, console_bytes=1000)


@pytest.fixture
def places(tmp_path):
    (tmp_path / "shared").mkdir()
    (tmp_path / "console").write_bytes(b"x" * 1000)
    return tmp_path / "shared", tmp_path / "console"


def test_usage_within_the_limits_is_no_error(places):
    (places[0] / "file").write_bytes(b"x" * (1 << 20))
    check_files(LIMITS, *places)
    check_wall(LIMITS, time.monotonic())
    check_said(LIMITS, 100)


def test_too_many_bytes_in_files_are_an_error(places):
    for number in range(2):
        (places[0] / str(number)).write_bytes(b"x" * (600 << 10))
    with pytest.raises(OverLimitError, match=r"in 2 files.*raise --max-output"):
        check_files(LIMITS, *places)


def test_a_file_removed_in_the_meantime_hides_no_other(places, monkeypatch):
    """A real attack: a file was created and removed all the time, and the files after it were not counted."""
    (places[0] / "large").write_bytes(b"x" * (2 << 20))
    real = os.scandir

    class Gone:
        path = name = "gone"

        def is_dir(self, follow_symlinks):
            return False

        def stat(self, follow_symlinks):
            raise FileNotFoundError

    @contextmanager
    def scandir(path):
        with real(path) as entries:
            yield [Gone(), *entries]

    monkeypatch.setattr(os, "scandir", scandir)
    with pytest.raises(OverLimitError, match="in 2 files"):
        check_files(LIMITS, *places)


def test_the_kernel_s_own_files_have_a_limit(places):
    limits = replace(LIMITS, memory_bytes=1 << 20)
    (places[0] / "pid").write_bytes(b"x" * (1 << 20))
    check_own(limits, places[0])
    (places[0] / "more").write_bytes(b"x")
    with pytest.raises(OverLimitError, match=r"its kernel keeps .* in 2 files of its own, more than 1 MiB"):
        check_own(limits, places[0])
    for number in range(1001):
        (places[0] / str(number)).touch()
    with pytest.raises(OverLimitError, match=r"100\d files of its own"):
        check_own(LIMITS, places[0])


def test_holes_count_with_their_size(places):
    with open(places[0] / "trace.dat", "wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(OverLimitError, match="it wrote 1 TiB in 1 files"):
        check_files(LIMITS, *places)


def test_too_many_files_are_an_error(places):
    for number in range(1001):
        (places[0] / str(number)).touch()
    with pytest.raises(OverLimitError, match="1001 files"):
        check_files(LIMITS, *places)


def test_too_deeply_nested_directories_are_an_error(places):
    deep = places[0]
    for _ in range(10):
        deep /= "d" * 255
        deep.mkdir()
    held = os.open(deep, os.O_RDONLY)
    for _ in range(10):  # longer than the longest path
        os.mkdir("d" * 255, dir_fd=held)
        held = os.open("d" * 255, os.O_RDONLY, dir_fd=held)
    with pytest.raises(OverLimitError, match="cannot read what it wrote: File name too long"):
        check_files(LIMITS, *places)
    remove_scratch(places[0])
    assert not places[0].exists()


def test_directories_too_deep_for_python_are_an_error(places):
    held = os.open(places[0], os.O_RDONLY)
    for _ in range(3000):
        os.mkdir("d", dir_fd=held)
        deeper = os.open("d", os.O_RDONLY, dir_fd=held)
        os.close(held)
        held = deeper
    os.close(held)
    with pytest.raises(OverLimitError, match="1001 files"):
        check_files(LIMITS, *places)
    remove_scratch(places[0])
    assert not places[0].exists()


def test_a_link_counts_and_is_not_followed(places):
    (places[0] / "link").symlink_to("/proc/kcore")
    check_files(LIMITS, *places)


def test_too_much_console_output_is_an_error(places):
    places[1].write_bytes(b"x" * 1001)
    with pytest.raises(OverLimitError, match="console"):
        check_files(LIMITS, *places)


def test_a_guest_without_its_directory_has_ended(places):
    places[0].rmdir()
    check_files(LIMITS, *places)


def test_too_long_runs_and_too_many_messages_are_errors():
    with pytest.raises(OverLimitError, match=r"longer than 10 s: raise --max-time"):
        check_wall(LIMITS, time.monotonic() - 11)
    with pytest.raises(OverLimitError, match="100 B of messages"):
        check_said(LIMITS, 101)


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
