"""What the report of a twin says, with a live run and without one."""

from pathlib import Path

import pytest
from support.reports import cells, tables, texts
from support.runs import write_run

from wblab.analysis.runs.run import read_run
from wblab.live.runs.request import INNOCENT
from wblab.live.twin.described import Machine
from wblab.live.twin.result import Match, TwinResult, report
from wblab.live.twin.scale import twin_of
from wblab.report.report import text_of

MACHINE = Machine(
    memory_bytes=8 << 30,
    background_bytes=375_000_000,
    dirty_bytes=750_000_000,
    write_bps=70_000_000,
    filesystem="ext4",
    scheduler="mq-deadline",
    offender_bytes=3 << 30,
    wait_ns=5 * 10**9,
    innocent=INNOCENT,
)


@pytest.fixture
def live(tmp_path):
    return read_run(write_run(tmp_path / "live", {"mw1": [0, 10**9]}))


def made(live, *matches):
    return report(TwinResult(MACHINE, twin_of(MACHINE, "x"), live, (), matches), Path("exp/x"))


def test_the_metrics_of_a_live_run_are_counted_by_outcome(live):
    alike, other = (Match("mw1", "longest_pause_s", value, (4.8, 5.0, 5.2, 5.1)) for value in (5.0, 20.0))
    found = made(live, alike, other)
    assert text_of(found.headline) == "Metrics of the live run in the twin: 1 reproduced, 1 not reproduced."
    assert [row[2:] for row in cells(tables(found)[0])] == [
        ["5 s", "5.05 s (4.80 to 5.20)", "reproduced"], ["20 s", "5.05 s (4.80 to 5.20)", "not reproduced"]
    ]  # fmt: skip
    assert found.to_json()["directory"] == "exp/x"


def test_without_a_live_run_the_longest_pause_is_predicted():
    found = made(None, Match("w1", "longest_pause_s", None, (1.0,)), Match("mw1", "longest_pause_s", None, (2.0, 3.0)))
    assert text_of(found.headline) == "Predicted longest pause: 2.50 s (2.00 to 3.00), of mw1."
    assert [column.head for column in tables(found)[0].columns] == ["load", "metric", "twin: median (range)"]
    assert any(said.startswith("twin: 1/") for said in texts(found))


@pytest.mark.parametrize(
    ("live", "twin", "outcome"),
    [
        (5.0, (4.8, 5.0, 5.2, 5.1), "reproduced"),
        (8.5, (4.8, 5.0, 5.2, 5.1), "reproduced"),  # differs by less than a factor of two
        (20.0, (4.8, 5.0, 5.2, 5.1), "not reproduced"),
        (1.0, (4.8, 5.0, 5.2, 5.1), "not reproduced"),
        (5.0, (1.0, 5.0, 20.0), "not decided"),  # the twin's own runs differ by more
        (9.8, (4.8, 5.0, 5.2, 5.1), "not decided"),  # at the edge
        (5.0, (5.0, 5.0), "not decided"),  # too few runs
        (0.1, (0.001, 0.002, 0.001), "reproduced"),  # both are too short to notice
        (0.7, (0.0, 0.0, 0.0), "not reproduced"),
        (None, (0.7, 0.9), None),
    ],
)
def test_a_live_run_matches_the_twin_within_a_factor_of_two(live, twin, outcome):
    assert Match("mw1", "longest_pause_s", live, twin).outcome == outcome


def test_the_interval_widens_with_the_number_of_figures():
    one, six = (Match("mw1", "longest_pause_s", 5.0, (4.0, 5.0, 6.0), looks).ratio for looks in (1, 6))
    assert six[0] < one[0] < 1 < one[1] < six[1]
