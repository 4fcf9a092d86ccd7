"""A trial as a plan of cells."""

import pytest

from wblab.claims.trial.plan import trial_matrix
from wblab.claims.trial.recommendations import read_wisdom
from wblab.core.errors import InputError
from wblab.study.plan import Plan


def test_each_value_scaling_and_scenario_has_a_cell(matrix):
    found = [tuple(cell.levels.values()) for cell in matrix.cells]
    assert found == [
        ("small", "default", "as it is"),
        ("small", "1", "by seconds"),
        ("small", "1", "by memory"),
        ("small", "2a", "by seconds"),
        ("small", "2a", "by memory"),
        ("small", "2b", "as it is"),
        ("asked", "1", "as it is"),
        ("asked", "2a", "as it is"),
    ]
    assert matrix.seeds == tuple(range(1, 21))


def test_a_trial_s_directory_has_its_inputs(matrix):
    assert Plan.from_json(matrix.to_json()) == matrix


def test_the_lab_s_recommendations_become_a_matrix():
    wisdom = read_wisdom()
    matrix = trial_matrix(wisdom, 5)
    defaults = [cell for cell in matrix.cells if cell.levels["recommendation"] == "default"]
    assert [cell.levels["scenario"] for cell in defaults] == list(wisdom.scenario)
    for cell in defaults:
        limits = (20, 10) if cell.levels["scenario"] != "two-disks-low" else (10, 5)
        assert (cell.spec.sysctl["vm.dirty_ratio"], cell.spec.sysctl["vm.dirty_background_ratio"]) == limits
    idle = next(cell for cell in matrix.cells if cell.levels["recommendation"] == "26b")
    assert idle.spec.load["l1"].kind == "command"


def test_an_invalid_value_is_refused(write_wisdom):
    wisdom = read_wisdom(write_wisdom('set = ["trace.events=[]"]', 'set = ["memory=1MiB"]'))
    with pytest.raises(InputError, match=r"memory: .* too small.* \(recommendation default, scenario small\)"):
        trial_matrix(wisdom)
