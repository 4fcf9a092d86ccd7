import os
import random
import time

import pytest

from wblab.live.monitor.probe import FILES, Probe, ProbeSamples, Reader
from wblab.live.monitor.samples import CacheState, Throttled


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


PAGE = 4096
MS = 10**6

HOST = b"""\
              dd-12079   [000] .....  1296.301479: global_dirty_state: dirty=15306 writeback=0 bg_thresh=550920 \
thresh=1103187 limit=160227 dirtied=2581367 written=2421385
              dd-12079   [000] .....  1296.303198: global_dirty_state: dirty=16330 writeback=7 bg_thresh=550920 \
thresh=1103187 limit=160227 dirtied=2582391 written=2421385
"""
GUEST = b"""\
    kworker/u4:1-13      [000] .....     5.200001: global_dirty_state: dirty=0 writeback=0 bg_thresh=2679 \
thresh=5365 limit=6970 dirtied=0 written=0
              l1-32      [000] .....    12.455057: balance_dirty_pages: bdi 98:0: limit=6866 setpoint=5387 dirty=6869 \
wb_setpoint=5049 wb_dirty=6869 dirty_ratelimit=102400 task_ratelimit=0 dirtied=8 dirtied_pause=512 paused=0 pause=50 \
period=50 think=480 cgroup_ino=1
             mw1-31      [000] .....    12.471002: balance_dirty_pages: bdi 98:0: limit=6866 setpoint=5387 dirty=6869 \
wb_setpoint=5049 wb_dirty=6869 dirty_ratelimit=102400 task_ratelimit=0 dirtied=24 dirtied_pause=32 paused=0 pause=-10 \
period=50 think=0 cgroup_ino=1
"""


def seen(*chunks, grain_ns=1):
    result = ProbeSamples()
    reader = Reader(PAGE, grain_ns, lambda pid: f"task {pid}", lambda bdi: {"98:0": "slow", "98:16": ""}[bdi])
    for chunk in chunks:
        reader.feed(chunk, result)
    return result


def test_a_state_has_bytes_and_the_time_of_its_event():
    assert seen(GUEST).states == [CacheState(5_200_001_000, 0, 0, 2679 * PAGE, 5365 * PAGE, 6970 * PAGE)]
    last = CacheState(1_296_303_198_000, 16330 * PAGE, 7 * PAGE, 550920 * PAGE, 1103187 * PAGE, 160227 * PAGE)
    assert seen(HOST).states[-1] == last


def test_only_throttled_tasks_are_reported():
    assert seen(GUEST).throttled == [Throttled(12_455_057_000, "l1", 50 * MS, "slow")]


def test_lines_may_come_in_pieces():
    text = HOST + GUEST
    cuts = sorted(random.Random(1).sample(range(len(text)), 12))
    pieces = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    assert b"".join(pieces) == text
    assert seen(*pieces) == seen(text)


def test_of_states_close_together_the_last_is_kept():
    assert [state.dirty for state in seen(HOST, grain_ns=50 * MS).states] == [16330 * PAGE]


def test_names_may_have_any_characters_or_be_missing():
    line = GUEST.splitlines(keepends=True)[1]
    odd = line.replace(b"l1-32 ", b"a-1 [b] c: -32 ")
    assert seen(odd).throttled[0].task == "a-1 [b] c: "
    assert seen(line.replace(b"l1-32", b"<...>-32")).throttled[0].task == "task 32"
    assert seen(line.replace(b"l1-32     ", b"l1-32  (     32)")).throttled[0].task == "l1"
    assert seen(line.replace(b"l1-32     ", b"l1-32  (-------)")).throttled[0].task == "l1"


def test_unstable_pages_of_older_kernels_count_as_dirty():
    old = GUEST.replace(b" bg_thresh", b" unstable=5 bg_thresh", 1).replace(b"dirty=0", b"dirty=2", 1)
    assert seen(old).states[0].dirty == 7 * PAGE


def test_lost_events_are_counted_and_other_lines_skipped():
    assert seen(b"CPU:1 [LOST 42 EVENTS]\n", b"# tracer: nop\n\n", b"CPU:0 [LOST 1 EVENTS]\n" + HOST).lost == 43


def test_the_disks_that_threads_dirty_are_reported():
    line = b"  cp-%d  [001] .....  7.000001: writeback_dirty_%s: bdi %s: ino=12 index=256\n"
    lines = (line % (40, b"folio", b"98:0"), line % (40, b"page", b"98:0"), line % (41, b"folio", b"98:16"))
    assert seen(*lines).dirtied == {40: {"slow"}}
