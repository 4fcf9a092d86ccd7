"""Panes of the writers to each disk."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from support.pictured import S

from wblab.analysis.runs.pagecache import DirtiedPages
from wblab.analysis.runs.pauses import Window
from wblab.plot.loadpanes import writer_panes
from wblab.plot.style import OTHERS, SERIES, load_colours

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


@pytest.mark.parametrize("disk", ["", "slow"])
def test_tasks_that_make_folios_dirty_are_told_apart_the_largest_seven(run, disk):
    tasks = [name for place, name in enumerate(["l1", *"abcdefgh"]) for _ in range(20 - place)]
    columns = (np.array(tasks, object), np.full(len(tasks), disk, object))
    cache = SimpleNamespace(dirtied=DirtiedPages(np.arange(len(tasks)) * S // 40, *columns))
    shown, colours = panes(on(run) if disk else run, cache)
    lines = {line.name.removesuffix(" (slow)"): line.colour for line in shown["dirtied"].marks}
    assert list(lines) == ["l1", *"abcdef"]
    assert lines["l1"] == colours["l1"]
    others = [lines[name] for name in "abcdef"]
    assert set(others) <= {*SERIES, OTHERS} - set(colours.values())
    assert len(set(others)) == len(set(SERIES) - set(colours.values())) + 1
