"""An exploration's directory: its design, and the responses in its table."""

import base64
import json
from pathlib import Path

import numpy as np
import pytest
from support.studyrows import write_rows

from wblab.core.errors import InputError
from wblab.lab.formats import DESIGN
from wblab.study.designs.explore.design import design_of
from wblab.study.designs.explore.points import planned, sample
from wblab.study.designs.explore.record import encode, observed, read_record, record_of

FACTORS = {"memory": {"key": "memory", "levels": ["100MiB", "150MiB"]}, "disk.latency": {"low": "1us", "high": "1ms"}}
DESIGN_OF = design_of({"name": "d", "base": "base-device", "runs": 12, "seeds": 2, "factors": FACTORS})
POINTS = sample(DESIGN_OF.head, 2)


@pytest.fixture
def directory(tmp_path):
    (tmp_path / DESIGN).write_bytes(encode(record_of(DESIGN_OF, POINTS)))
    return tmp_path


def rows(longest_s, rate):
    of_loads = [("w1", "write", longest_s), ("mw1", "multiwrite", longest_s / 2)]
    found = [(load, kind, "longest_pause_s", value) for load, kind, value in of_loads]
    return [*found, ("l1", "load", "throughput_bps", rate), ("l2", "load", "throughput_bps", 2 * rate)]


def test_a_record_is_read_back(directory):
    found = read_record(directory)
    assert [factor.name for factor in found.factors] == ["memory", "disk.latency", "dummy"]
    assert [factor.is_dummy for factor in found.factors] == [False, False, True]
    assert found.responses == DESIGN_OF.responses
    assert (found.points == POINTS).all()


def test_a_response_is_the_worst_load_and_the_median_seed(directory):
    matrix = planned(DESIGN_OF, POINTS, Path())
    parts = [
        (cell, seed, rows(10 * number + seed, number))
        for seed in (1, 2)
        for number, cell in enumerate(matrix.cells)
        if number != 5  # a failed run
    ]
    write_rows(directory, matrix, parts)
    found = observed(directory, matrix.cells[0].spec)
    longest, rate = found.responses["longest_pause"], found.responses["throughput"]
    assert longest.unit == "s"
    assert not longest.more_is_better
    assert (longest.values[[0, 3, 11]] == [1.5, 31.5, 111.5]).all()
    assert np.isnan(longest.values).tolist() == [number == 5 for number in range(12)]
    assert (rate.values[[0, 3]] == [0, 3]).all()
    assert rate.more_is_better
    assert np.isnan(found.responses["p999"].values).all()
    labels = [found.factors[0].levels[code] for code in found.codes[:, 0]]
    assert labels == [cell.levels["memory"] for cell in matrix.cells]


def points(row):
    """Return one point as a record has it."""
    return {"shape": [1, len(row)], "float64": base64.b64encode(np.array(row, "<f8").tobytes()).decode()}


@pytest.mark.parametrize(
    "change",
    [
        {"sample": points([0.5, 0.5])},
        {"sample": points([0.5, 0.5, 1.0])},
        {"sample": points([0.5, 0.5, float("-inf")])},
        {"sample": "many"},
        {"sample": [[0.5, 0.5]]},
        {"sample": points([0.5]) | {"shape": [2, 3]}},
        {"factors": [{"name": "a"}]},
        {"factors": 5},
        {"responses": []},
        {"responses": {"a": 5}},
    ],
)
def test_a_damaged_record_is_refused_in_one_line(directory, change):
    content = json.loads((directory / DESIGN).read_text())
    (directory / DESIGN).write_text(json.dumps(content | change))
    with pytest.raises(InputError, match=r"design.json is damaged|responses.a must be a table"):
        read_record(directory)


def test_a_directory_without_a_record_is_not_an_exploration(tmp_path):
    with pytest.raises(InputError, match="is this the directory of an exploration"):
        read_record(tmp_path)
