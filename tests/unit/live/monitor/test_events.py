"""Real lines of trace_pipe, from a machine with 6.18 and from guests with 7.3."""

import random

from wblab.live.monitor.probe import Reader, Seen
from wblab.live.monitor.samples import CacheState, Throttled

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
    result = Seen()
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
