"""Rows as files, and the table that is read from them."""

from dataclasses import replace

import pytest
from support.studyrows import write_rows

from wblab.analysis.groups.observations import read_table
from wblab.study.rowfile import row_of


@pytest.fixture
def table(make_matrix, tmp_path):
    """Return a function that gives the table of a matrix, as it is read, from levels and each run's rows."""

    def make(levels, rows):
        matrix = make_matrix()
        cells = tuple(replace(matrix.cells[0], name=f"c{n}", levels={"axis": level}) for n, level in enumerate(levels))
        write_rows(
            tmp_path, replace(matrix, cells=cells), [(cell, 1, own) for cell, own in zip(cells, rows, strict=True)]
        )
        return read_table(tmp_path)

    return make


def test_each_metric_has_a_row_with_its_cell_and_run(table):
    found = table([1.5, 2.5], [[("w1", "write", "paused_s", 0.25), ("w1", "write", "longest_pause_s", 0.125)], []])
    assert list(found.columns) == ["axis", "cell", "seed", "run", "load", "kind", "metric", "value"]
    assert found.to_numpy().tolist() == [
        [1.5, "c0", 1, "c0-s1", "w1", "write", "longest_pause_s", 0.125],
        [1.5, "c0", 1, "c0-s1", "w1", "write", "paused_s", 0.25],
    ]


def test_a_cause_of_only_another_run_is_0(table):
    unknown = ("w1", "write", "paused_unknown_s", 0.5)
    found = table(["a", "b"], [[unknown, ("w1", "write", "paused_throttled_s", 2.0)], [unknown]])
    throttled = found[found["metric"] == "paused_throttled_s"]
    assert dict(zip(throttled["axis"], throttled["value"], strict=True)) == {"a": 2.0, "b": 0.0}


@pytest.mark.parametrize(
    ("levels", "kept"),
    [([1, 2], [1, 2]), ([1, 2.5], ["1", "2.5"]), ([1, "2"], ["1", "2"]), ([1, 1 << 63], ["1", str(1 << 63)])],
)
def test_levels_of_mixed_types_become_texts(table, levels, kept):
    found = table(levels, [[("w1", "write", "paused_s", 0.0)]] * 2)
    assert found["axis"].tolist() == kept


def test_a_run_that_failed_but_may_has_a_row_too(make_run, make_matrix):
    """Its record has no duration: wblab.host.run.begun."""
    path = make_run({}, outcome="failed", wall_s=None, kernel={"build_id": "a" * 64}, host={"cpu": "x"})
    row = row_of(path, make_matrix().cells[0], 1, [("w1", "write", "paused_s", 0.25)])
    assert (row.wall_s, row.metrics) == (0.0, [("w1", "write", "paused_s", 0.25)])
