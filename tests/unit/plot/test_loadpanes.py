from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.pictured import S

from wblab.analysis.runs.pagecache import DirtiedPages
from wblab.analysis.runs.pauses import Window
from wblab.analysis.runs.run import LoadCycles
from wblab.core.loads import Command, MultiWrite, Offender
from wblab.core.units import Bytes, Nanoseconds
from wblab.plot.artists import plot_pane
from wblab.plot.loadpanes import cycles as blocks_of
from wblab.plot.loadpanes import load_pane, writer_panes
from wblab.plot.marks import Part
from wblab.plot.style import OTHERS, SERIES, load_colours

MS = 1_000_000
INNOCENT = MultiWrite(file="f", idle=Nanoseconds(0))
OFFENDER = Offender(file="f", wait=Nanoseconds(5000 * MS), size=Bytes(3), block=Bytes(1))


def reduced(item, columns):
    return blocks_of(item, {"x": "black"}, 1000 * MS).reduced(columns)


def cycles(durations_ms, load=INNOCENT):
    return LoadCycles("x", load, 1, "stopped", "", np.cumsum([0, *durations_ms], dtype=np.int64) * MS)


durations = st.lists(st.integers(min_value=1, max_value=3000), min_size=1, max_size=300)


@given(durations, st.integers(min_value=1, max_value=500))
def test_reduction_keeps_extent_highest_cycle_and_every_pause(durations_ms, columns):
    item = cycles(durations_ms)
    drawn = reduced(item, columns)
    assert drawn.edges_ns[0] == 0
    assert drawn.edges_ns[-1] == item.boundaries_ns[-1]
    assert (np.diff(drawn.edges_ns) > 0).all()
    assert drawn.durations_s.max() == max(durations_ms) / 1000
    assert drawn.counts.sum() == len(durations_ms)
    assert drawn.durations_s[drawn.paused].tolist() == [ms / 1000 for ms in durations_ms if ms > 1000]


@given(durations)
def test_without_need_nothing_is_reduced(durations_ms):
    drawn = reduced(cycles(durations_ms), 10_000_000)
    assert drawn.durations_s.tolist() == [ms / 1000 for ms in durations_ms]


def test_many_cycles_become_few_steps():
    drawn = reduced(cycles([1] * 100_000), 1000)
    assert len(drawn.pauses_s) <= 1001


def test_the_wait_of_an_offender_is_no_step():
    drawn = reduced(cycles([5001, 20, 30], OFFENDER), 1000)
    assert drawn.edges_ns.tolist() == [5001 * MS, 5021 * MS, 5051 * MS]
    assert not drawn.paused.any()


def test_an_offender_that_never_wrote_has_no_steps():
    assert not len(reduced(cycles([5001], OFFENDER), 1000).heights_s)


WINDOW = Window(0, 8 * S)


def on(run, **disks):
    """Return the run with its loads on these disks."""
    loads = (replace(item, load=replace(item.load, disk=disks.get(item.name, "slow"))) for item in run.loads)
    return replace(run, loads=tuple(loads))


def panes(run, cache=None):
    colours = load_colours({item.name: item.load for item in run.loads})
    return {pane.name: pane for pane in writer_panes(run, cache, WINDOW, colours)}, colours


def test_of_one_disk_there_is_no_pane(run):
    assert panes(run)[0] == {}


def test_each_load_is_named_with_its_disk_and_has_its_colour(run):
    shown, colours = panes(on(run, mw1="fast"))
    assert shown["writers"].explained == ["w1 (slow)", "mw1 (fast)", "l1 (slow)"]
    assert [line.colour for line in shown["writers"].marks] == [colours[name] for name in ("w1", "mw1", "l1")]


def test_a_disk_that_all_write_to_is_named_once(run):
    pane = panes(on(run))[0]["writers"]
    assert pane.explained == ["w1", "mw1", "l1"]
    assert pane.what.startswith("write rate of each load to slow, in spans")


@pytest.mark.parametrize(("disk", "size", "unit"), [("", 0, "folios/s"), ("slow", 4096, "")])
def test_tasks_that_make_folios_dirty_are_told_apart_the_largest_seven(run, disk, size, unit):
    tasks = [name for place, name in enumerate(["l1", *"abcdefgh"]) for _ in range(20 - place)]
    columns = (np.array(tasks, object), np.full(len(tasks), disk, object), np.full(len(tasks), size))
    cache = SimpleNamespace(dirtied=DirtiedPages(np.arange(len(tasks)) * S // 40, *columns))
    shown, colours = panes(on(run) if disk else run, cache)
    lines = {line.name.removesuffix(" (slow)"): line.colour for line in shown["dirtied"].marks}
    assert list(lines) == ["l1", *"abcdef"]
    assert shown["dirtied"].axis.unit == unit  # the ticks of bytes have their own
    assert lines["l1"] == colours["l1"]
    others = [lines[name] for name in "abcdef"]
    assert set(others) <= {*SERIES, OTHERS} - set(colours.values())
    assert len(set(others)) == len(set(SERIES) - set(colours.values())) + 1


def command(*boundaries_s):
    times = np.array([int(time * S) for time in boundaries_s], np.int64)
    return LoadCycles("x", Command(argv=("x",), wait=2 * S), 7, "finished", "", times)


def drawn(item):
    return plot_pane(load_pane(item, blocks_of(item, {"x": "black"}), WINDOW), S)


def test_a_command_is_one_block_as_high_as_its_pane_for_as_long_as_it_ran():
    ax = drawn(command(1, 3, 7.5))
    (block,) = ax.patches
    values, edges, _ = block.get_data()
    assert edges.tolist() == [2.0, 6.5]
    assert values.tolist() == [ax.get_ylim()[1]]
    assert len(ax.get_yticks()) == 0


@pytest.mark.parametrize("boundaries_s", [(1,), (1, 3)])
def test_one_that_never_started_has_no_block(boundaries_s):
    assert not drawn(command(*boundaries_s)).patches


def test_that_it_runs_is_no_pause():
    assert command(1, 3, 60).pauses_ns.tolist() == [0, 0]


def test_all_pauses_are_as_high_and_as_wide_as_they_are_long():
    item = cycles([100, 2000, 200, 8000])
    blocks = blocks_of(item, {"x": "black"}, 1000 * MS)
    assert blocks.heights_s.tolist() == [0.1, 1.0, 0.2, 1.0]
    parted = replace(blocks, parts=tuple(Part(name, np.array([0, 1.5, 0, share]), name) for name, share in PARTS))
    edges = {part.name: (low[3], high[3]) for part, low, high in parted.stacked()}
    assert edges == {"disk": (0.0, 0.25), "journal": (0.25, 1.0)}


PARTS = (("disk", 2), ("journal", 6))


def test_a_pause_says_its_length_where_there_is_room_and_the_longest_always():
    def said(item):
        pane = load_pane(item, blocks_of(item, {"x": "black"}, 1000 * MS), Window(0, 100 * S))
        return [(mark.text, mark.time_ns / S) for mark in pane.marks[1:]]

    assert said(cycles([1500, 6000, 2000, 80_000, 10_500])) == [("6 s", 4.5), ("80 s", 49.5), ("10.5 s", 94.75)]
    assert said(cycles([500, 1500, 500])) == [("1.50 s", 1.25)]
