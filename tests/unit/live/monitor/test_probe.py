import os
import time

import pytest

from wblab.live.monitor.probe import FILES, Probe


@pytest.fixture
def gate():
    """Return a writer of probes that blocks each write, and a function that releases one."""
    reading, writing = os.pipe()
    yield (lambda paths: lambda number: os.read(reading, 1)), lambda: os.write(writing, b"x")
    os.close(reading)
    os.close(writing)


def held(path):
    return os.open(path, os.O_RDONLY)


def waits(of, count):
    """Return the first `count` waits that a probe reports, at invented times."""
    found = []
    while len(found) < count:
        found += of.since_last(len(found) + 1)
        time.sleep(0.001)
    return found


def test_a_write_is_reported_while_it_lasts_and_once_at_its_end(tmp_path, gate):
    writer, release = gate
    watched = Probe(held(tmp_path), locked=False, writer=writer)
    first, second = waits(watched, 2)
    assert (first.over, second.over) == (False, False)
    assert first.start_ns == second.start_ns
    assert (first.at_ns, second.at_ns) == (1, 2)
    release()
    over = next(wait for _ in iter(int, 1) for wait in waits(watched, 1) if wait.over)
    assert over.start_ns == first.start_ns
    assert over.at_ns > over.start_ns
    later = waits(watched, 1)[0]
    assert not later.over
    assert later.start_ns > over.at_ns
    watched.stop()


def test_the_probe_keeps_few_files(tmp_path):
    watched = Probe(held(tmp_path), locked=False, idle_ns=0)
    told = []
    while len(told) < 3 * FILES:
        told += [wait for wait in watched.since_last(0) if wait.over]
    watched.stop()
    assert len(list(tmp_path.iterdir())) in (FILES - 1, FILES)
    starts = [wait.start_ns for wait in told]
    assert starts == sorted(set(starts))


def test_a_removed_directory_does_not_end_the_probe(tmp_path):
    (tmp_path / "gone").mkdir()
    directory = held(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    watched = Probe(directory, locked=False)
    assert waits(watched, 2)[-1].name == "probe"
    watched.stop()
