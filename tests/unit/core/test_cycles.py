import os
import signal
import time
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest
from support.processes import status
from support.waiting import wait_until

from wblab.core.child import describe_exit, fork_child
from wblab.core.cycles import Ending, Stamps, ending, run_cycles, stamps_for
from wblab.core.loads import Command, Control, Load, MultiWrite, Offender, Write, base

MS = 1_000_000

CONTROL = Control(idle=2 * MS)
WRITE = Write(file="w", idle=2 * MS)
MULTI = MultiWrite(file="m", idle=2 * MS)
OFFENDER = Offender(file="l", wait=5 * MS, size=64 << 10, block=1 << 10)
INNOCENT = [CONTROL, WRITE, MULTI]


@dataclass
class Child:
    """A load in a child process."""

    pid: int
    stamps: Stamps

    def noted(self, count: int) -> None:
        """Wait until so many boundaries are recorded."""
        wait_until(lambda: len(self.stamps.times_ns()) >= count)

    def asleep(self) -> None:
        """Wait until it sleeps. Python answers a signal that comes just before a sleep only after that."""
        wait_until(lambda: status(self.pid)[1] == "S")

    def send(self, number: int) -> None:
        os.kill(self.pid, number)

    def wait(self) -> str:
        return describe_exit(os.waitpid(self.pid, 0)[1])


def started(load: Load, mount: Path, start_ns: int = 0) -> Child:
    stamps = stamps_for(load)
    return Child(fork_child(lambda: run_cycles(load, mount, stamps, start_ns, Random())), stamps)


def is_monotonic(times_ns):
    return all(earlier <= later for earlier, later in pairwise(times_ns))


def test_an_offender_finishes_with_all_its_bytes_written(tmp_path):
    child = started(OFFENDER, tmp_path)
    assert child.wait() == "exit code 0"
    times_ns = child.stamps.times_ns()
    assert ending(child.stamps) == Ending("finished")
    assert len(times_ns) == OFFENDER.capacity + 1
    assert is_monotonic(times_ns)
    assert times_ns[1] - times_ns[0] >= OFFENDER.wait
    assert (tmp_path / "l").stat().st_size == OFFENDER.size


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("load", INNOCENT, ids=lambda load: load.kind)
def test_an_innocent_load_runs_until_it_is_stopped(tmp_path, load, number):
    child = started(load, tmp_path)
    child.noted(5)
    child.send(number)
    assert child.wait() == "exit code 0"
    times_ns = child.stamps.times_ns()
    assert ending(child.stamps) == Ending("stopped")
    assert is_monotonic(times_ns)
    whole = [later - earlier for earlier, later in pairwise(times_ns[:-1])]
    assert min(whole) >= load.idle


def test_a_load_stopped_in_a_pause_records_the_time_and_ends(tmp_path):
    child = started(Control(idle=3600 * 1000 * MS), tmp_path)
    child.noted(1)
    child.asleep()
    before_ns = time.monotonic_ns()
    child.send(signal.SIGTERM)
    assert child.wait() == "exit code 0"
    first, last = child.stamps.times_ns()
    assert first <= before_ns <= last <= time.monotonic_ns()
    assert ending(child.stamps) == Ending("stopped")


def test_an_offender_can_be_stopped_too(tmp_path):
    child = started(Offender(file="l", wait=3600 * 1000 * MS, size=4, block=4), tmp_path)
    child.noted(1)
    child.asleep()
    child.send(signal.SIGINT)
    assert child.wait() == "exit code 0"
    assert ending(child.stamps) == Ending("stopped")
    assert (tmp_path / "l").stat().st_size == 0


def test_a_load_stopped_before_its_start_records_nothing(tmp_path):
    child = started(WRITE, tmp_path, time.monotonic_ns() + 3600 * 1000 * MS)
    wait_until((tmp_path / "w").exists)
    child.asleep()
    child.send(signal.SIGTERM)
    assert child.wait() == "exit code 0"
    assert ending(child.stamps) == Ending("stopped")
    assert not child.stamps.times_ns()


def test_several_signals_count_as_one_stop(tmp_path):
    child = started(CONTROL, tmp_path)
    child.noted(2)
    for number in (signal.SIGINT, signal.SIGTERM) * 50:
        child.send(number)
    assert child.wait() == "exit code 0"
    assert ending(child.stamps) == Ending("stopped")


def test_the_first_boundary_is_not_before_the_start(tmp_path):
    start_ns = time.monotonic_ns() + 50 * MS
    child = started(OFFENDER, tmp_path, start_ns)
    child.wait()
    assert child.stamps.times_ns()[0] >= start_ns


@pytest.mark.parametrize("load", INNOCENT, ids=lambda load: load.kind)
def test_a_full_buffer_of_cycles_ends_a_load(tmp_path, monkeypatch, load):
    monkeypatch.setattr(base, "MAX_ENDLESS_CYCLES", 7)
    child = started(load, tmp_path)
    assert child.wait() == "exit code 0"
    assert ending(child.stamps) == Ending("full")
    assert len(child.stamps.times_ns()) == 8


@pytest.mark.parametrize("load", [WRITE, OFFENDER], ids=lambda load: load.kind)
def test_a_full_disk_ends_a_load_with_the_reason(tmp_path, load):
    (tmp_path / load.file).symlink_to("/dev/full")
    child = started(load, tmp_path)
    assert child.wait() == "exit code 0"
    assert ending(child.stamps) == Ending("failed", "No space left on device")
    assert len(child.stamps.times_ns()) == 1


def test_a_disk_that_gets_full_keeps_the_cycles_before(tmp_path):
    (tmp_path / "m.3").symlink_to("/dev/full")
    child = started(MULTI, tmp_path)
    assert child.wait() == "exit code 0"
    assert ending(child.stamps) == Ending("failed", "No space left on device")
    assert len(child.stamps.times_ns()) == 4


@pytest.mark.parametrize("load", [WRITE, MULTI, OFFENDER], ids=lambda load: load.kind)
def test_an_impossible_directory_ends_a_load_with_the_reason(tmp_path, load):
    (tmp_path / "file").touch()
    child = started(load, tmp_path / "file")
    assert child.wait() == "exit code 0"
    end = ending(child.stamps)
    assert end.end == "failed"
    assert end.error in ("Not a directory", "File exists")
    assert not child.stamps.times_ns()


@pytest.mark.parametrize("load", [WRITE, MULTI, OFFENDER], ids=lambda load: load.kind)
def test_a_read_only_filesystem_ends_a_load_with_the_reason(load):
    child = started(load, Path("/proc/sys"))  # refuses new files, also from root
    assert child.wait() == "exit code 0"
    assert ending(child.stamps).end == "failed"
    assert ending(child.stamps).error in ("Permission denied", "No such file or directory", "Read-only file system")


def test_cycles_of_a_killed_load_are_kept(tmp_path):
    child = started(CONTROL, tmp_path)
    child.noted(5)
    child.send(signal.SIGKILL)
    assert child.wait() == "signal SIGKILL"
    times_ns = child.stamps.times_ns()
    assert len(times_ns) >= 5
    assert is_monotonic(times_ns)
    assert ending(child.stamps).end == "failed"


def test_a_load_that_never_ran_counts_as_failed():
    assert ending(stamps_for(CONTROL)) == Ending("failed")


def test_stamps_hold_what_was_appended():
    stamps = Stamps(3)
    for time_ns in (1, 2**62, 5):
        stamps.append(time_ns)
    assert list(stamps.times_ns()) == [1, 2**62, 5]
    with pytest.raises(IndexError):
        stamps.append(6)


@pytest.mark.parametrize("load", [*INNOCENT, OFFENDER], ids=lambda load: load.kind)
def test_the_buffer_has_room_for_all_boundaries_and_a_stop(load):
    stamps = stamps_for(load)
    for _ in range(load.capacity + 2):
        stamps.append(1)
    assert len(stamps.times_ns()) == load.capacity + 2


@pytest.mark.parametrize(("script", "status"), [("exit 0", 0), ("exit 3", 3), ("kill -9 $$", -9)])
def test_a_command_finishes_and_its_status_is_kept(tmp_path, script, status):
    child = started(Command(argv=("sh", "-c", script), wait=0), tmp_path)
    assert child.wait() == "exit code 0"
    assert ending(child.stamps) == Ending("finished", status=status)
    assert len(child.stamps.times_ns()) == 3


def test_a_command_ends_with_its_load(tmp_path):
    child = started(Command(argv=("sh", "-c", "echo $$ > pid; exec sleep 60"), wait=0), tmp_path)
    wait_until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text().strip())
    child.send(signal.SIGTERM)
    assert child.wait() == "exit code 0"
    assert ending(child.stamps) == Ending("stopped")
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)
