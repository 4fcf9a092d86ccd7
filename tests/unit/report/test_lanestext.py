"""Lanes in a terminal."""

from dataclasses import replace

import pytest

from tests.support.runs import MS, S, write_run, write_run_of
from wblab.analysis.runs.lanes import Lane, Lanes
from wblab.analysis.runs.run import read_run
from wblab.lab.results import SPECS
from wblab.lab.specfile import read_spec
from wblab.report.lanestext import ASCII, BLOCKS, blocks_for, lane_text, lanes_lines, titles


def _run(*frozen, title="a", name="w1"):
    lanes = (Lane(name, "innocent", "", 0, 40 * S, frozen), Lane("l1", "offender", "", 10 * S, 20 * S))
    return Lanes(title, lanes, 300 * MS)


def test_a_column_is_as_tall_as_it_is_frozen_and_a_short_freeze_is_seen():
    lane = _run((10 * S, 14 * S), (20 * S, 20 * S + 400 * MS)).lanes[0]
    assert lane_text(lane, 40 * S, 20, BLOCKS) == "▁▁▁▁▁██▁▁▁▄▁▁▁▁▁▁▁▁▁"
    assert lane_text(lane, 40 * S, 20, ASCII) == "_____##___:_________"


def test_an_offender_has_marks_only_while_it_writes():
    assert lane_text(_run().lanes[1], 40 * S, 8, ASCII) == "  //    "


def test_a_freeze_is_in_no_column_twice_and_beyond_none():
    lane = Lane("w1", "innocent", "", 0, 10 * S, ((7 * S, 10 * S),))
    assert lane_text(lane, 10 * S, 3, BLOCKS) == "▁▁█"
    assert lane_text(lane, 10 * S, 1, BLOCKS) == "▄"


def test_runs_share_an_axis_and_80_columns_whatever_they_are_called():
    runs = [_run((0, 9 * S), title="x" * 200, name="y" * 64), _run(title="the same, with a short queue")]
    lines = lanes_lines(runs, BLOCKS)
    assert max(map(len, lines)) == 80
    assert lines[0].endswith("...  longest freeze 9 s")
    assert lines[3].endswith("no freeze")
    assert lines[-1].strip() == "▁ works, █ frozen, ░ writes fast"
    assert lines[-2].split() == ["0", "s", "10", "20", "30"]


def test_a_lane_with_a_long_name_has_no_role_before_it():
    lanes = tuple(
        Lane(name, "innocent", "", 0, 40 * S, ((0, 9 * S),), "commit") for name in ("db", "db-image", "db-host")
    )
    lines = lanes_lines([Lanes("a", lanes, 300 * MS)], BLOCKS)
    assert [line[:11] for line in lines[:3]] == ["database db", "db-image   ", "db-host    "]


def test_where_nothing_froze_nothing_is_drawn():
    assert lanes_lines([_run()], BLOCKS) == []


@pytest.mark.parametrize(
    ("encoding", "blocks"),
    [("utf-8", BLOCKS), ("ascii", ASCII), ("latin-1", ASCII), (None, ASCII), ("nonsense", ASCII)],
)
def test_an_encoding_without_blocks_gets_ascii(encoding, blocks):
    assert blocks_for(encoding) == blocks


def test_titles_say_what_differs(tmp_path):
    spec = read_spec(SPECS.find("base"), ["disk.queue.nr_requests=4"])
    alone = replace(spec, load={"w1": spec.load["w1"]})
    runs = [
        read_run(write_run(tmp_path / "a", {"w1": [0, S]})),
        read_run(write_run_of(replace(alone, seed=2), tmp_path / "b", {"w1": [0, S]})),
    ]
    assert titles(runs[:1]) == ["base, no load.c1, no load.mw1, no load.l1, no load.l2"]
    assert titles(runs)[1].startswith("base, seed 2, disk.disk.queue.nr_requests=4, no load.c1")
    other = replace(runs[0], record={**runs[0].record, "kernel": {"release": "6.1.2"}})
    assert titles([runs[0], other])[1].startswith("base, Linux 6.1.2, ")
