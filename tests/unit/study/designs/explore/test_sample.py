"""Latin hypercubes: balanced, and the same for the same seed."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from wblab.core.errors import InputError
from wblab.lab.results import DESIGNS
from wblab.study.designs.explore.design import Head, design_of, read_design
from wblab.study.designs.explore.points import planned, sample
from wblab.study.plan import Plan

HEAD = Head(name="d", base="base", runs=64)


def test_each_column_has_one_run_in_each_stratum():
    points = sample(HEAD, 5)
    assert points.shape == (64, 6)
    assert (np.sort(np.floor(points * 64), axis=0) == np.arange(64)[:, None]).all()


def test_the_seed_decides_the_sample():
    assert (sample(HEAD, 5) == sample(HEAD, 5)).all()
    assert not (sample(HEAD, 5) == sample(replace(HEAD, seed=2), 5)).any()


def test_strength_two_balances_pairs():
    points = sample(replace(HEAD, runs=49, strength=2), 4)
    cells = np.floor(points * 7).astype(int)
    for first in range(5):
        for second in range(first):
            assert len(set(zip(cells[:, first], cells[:, second], strict=True))) == 49


@pytest.mark.parametrize(
    ("runs", "factors", "said"),
    [(64, 3, "the square of a prime, not 64: write 49 or 121"), (9, 5, "9 runs balance at most 3 factors, not 5")],
)
def test_strength_two_needs_the_square_of_a_prime(runs, factors, said):
    with pytest.raises(InputError, match=said):
        sample(replace(HEAD, runs=runs, strength=2), factors)


FACTORS = {
    "wait": {"low": "1s", "high": "2s", "step": "100ms"},
    "disk.write_bps": {"low": "1MiB/s", "high": "8MiB/s", "scale": "log"},
    "disk.scheduler": {"levels": ["none", "bfq"]},
}
DERIVED = {"load.l1.wait": "wait * 2", "sysctl.vm.dirty_bytes": "max(MiB, wait / ms)"}
SET = {"sysctl.vm.dirty_ratio": 0, "sysctl.vm.dirty_background_ratio": 0}
TABLE = {"name": "d", "base": "base-device", "runs": 8, "factors": FACTORS, "derived": DERIVED, "set": SET}


def plan(points=None, **given):
    design = design_of(TABLE | given)
    points = sample(design.head, len(design.factors)) if points is None else np.array(points)
    return planned(design, points, Path())


def test_a_row_sets_the_values_of_its_levels():
    (cell,) = plan([[0.0, 0.0, 0.9, 0.5]]).cells
    assert cell.name == "0"
    assert cell.levels == {"wait": 1_000_000_000, "disk.write_bps": 1 << 20, "disk.scheduler": "bfq"}
    assert cell.spec.load["l1"].wait == 2_000_000_000
    assert cell.spec.disk["disk"].write_bps == 1 << 20
    assert cell.spec.disk["disk"].scheduler == "bfq"
    assert cell.spec.sysctl["vm.dirty_bytes"] == 1 << 20


def test_rows_become_cells_of_a_matrix():
    matrix = plan()
    assert len(matrix.runs()) == 8
    assert Plan.from_json(matrix.to_json()) == matrix


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"set": SET | {"disk.write_bp": 5}}, "row 0: unknown key 'disk.write_bp'"),
        (
            {"derived": DERIVED | {"disk.scheduler": "wait"}},
            r"both disk.scheduler and \[derived\] set 'disk.scheduler'",
        ),
        ({"derived": DERIVED | {"memory": "wait / 0"}}, "row 0: derived.memory: 'wait / 0' cannot be computed"),
        ({"factors": FACTORS | {"seed": {"key": "seed", "low": 1, "high": 3}}}, "'seed' cannot be set"),
        ({"factors": FACTORS | {"run": {"key": "memory", "low": "1GiB", "high": "2GiB"}}}, "'run' is already a column"),
        ({"responses": {"a": {"metric": "longest"}}}, "responses.a.metric: no metric 'longest'"),
        ({"responses": {"a": {"metric": "paused_s", "of": ["w9"]}}}, "responses.a.of: no load 'w9'"),
        ({"base": "no-such"}, "no spec 'no-such'"),
    ],
)
def test_an_invalid_row_is_named(given, said):
    with pytest.raises(InputError, match=said):
        plan(**given)


def test_all_rows_of_the_lab_s_designs_are_valid():
    for name in ("writeback",):
        path = DESIGNS.find(name)
        design = read_design(path)
        points = sample(design.head, len(design.factors))
        assert len(planned(design, points, path.parent).cells) == design.head.runs == 1024
