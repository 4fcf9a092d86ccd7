"""What the report of a twin says, with a live run and without one."""

from pathlib import Path

import pytest
from support.reports import cells, tables, texts
from support.runs import write_run

from wblab.analysis.runs.run import read_run
from wblab.live.runs.request import INNOCENT
from wblab.report.report import text_of
from wblab.study.designs.twin.machine import Machine
from wblab.study.designs.twin.result import Match, Result, report
from wblab.study.designs.twin.scale import twin_of

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
    return report(Result(MACHINE, twin_of(MACHINE, "x"), live, (), matches), Path("exp/x"))


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
