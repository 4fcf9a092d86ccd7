"""Metrics of a role, taken from the loads of a run."""

import pandas as pd
import pytest

from wblab.claims.trial.measured import TrialFigures, measured
from wblab.lab.formats import RUN, write_json
from wblab.study.store import Store


@pytest.fixture
def values(wisdom, matrix, tmp_path):
    """Return a function that gives a metric of a role in one run with these figures."""
    cell = next(cell for cell in matrix.cells if cell.levels["scenario"] == "small")

    def of(figures, role, metric):
        return TrialFigures(wisdom, tmp_path, {cell.name: {7: figures}}).values(cell, role, metric)

    return of


def test_the_worst_load_of_several_counts(values):
    figures = {("w1", "longest_pause_s"): 0.5, ("mw1", "longest_pause_s"): 2.0, ("l1", "longest_pause_s"): 9.0}
    assert values(figures, "innocent", "longest_pause_s") == {7: 2.0}
    assert values(figures, "offender", "longest_pause_s") == {7: 9.0}
    assert values(figures, "reader", "longest_pause_s") == {}
    assert values(figures, "innocent", "paused_s") == {}


def test_the_unplug_time_belongs_to_the_run(values):
    assert values({("l2", "unplug_s"): 3.0}, "offender", "unplug_s") == {7: 3.0}


def test_a_copy_ends_when_its_data_are_on_the_disk(values):
    copied = {("l1", "throughput_bps"): 8 << 20, ("l1", "unplug_s"): 3.0}  # of 8 MiB, at 8 MiB/s
    assert values(copied, "offender", "copied_bps") == {7: 2 << 20}
    assert values({("l1", "throughput_bps"): 8 << 20}, "offender", "copied_bps") == {}


def test_missing_runs_have_a_reason_by_cell(wisdom, matrix, tmp_path):
    store = Store.begin(tmp_path, matrix, {"": {"build_id": "b"}})
    columns = {"cell": [matrix.cells[2].name], "seed": [1], "load": ["w1"], "metric": ["paused_s"], "value": [1.0]}
    reasons = ("cannot set vm.dirty_bytes to '9' in the guest: Invalid argument", "it panicked")
    for cell, reason in zip(matrix.cells, reasons, strict=False):
        (run := store.runs / f"_{cell.name}-s1").mkdir()
        write_json(run / "experiment.json", RUN.head() | {"reason": reason})
    found = measured(store, wisdom, lambda path: pd.DataFrame(columns))
    assert found.refused == {matrix.cells[0].name: "vm.dirty_bytes to '9'"}
    assert found.failed == {matrix.cells[1].name: "it panicked"}
    assert found.figures == {matrix.cells[2].name: {1: {("w1", "paused_s"): 1.0}}}
