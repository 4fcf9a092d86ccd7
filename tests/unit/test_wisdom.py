"""The page of the trial's results is made from a trial."""

import numpy as np
import pytest
from support.trials import pretended, small_trial
from wisdom import page

from wblab.study.designs.paired.judged import judged
from wblab.study.designs.paired.plan import trial_matrix
from wblab.study.designs.paired.recommendations import read_wisdom
from wblab.study.designs.paired.result import Result

KERNEL = {"release": "7.2.11", "build_id": "d8fbc28a1c03dc5fab"}


@pytest.fixture
def text(tmp_path):
    wisdom = read_wisdom(small_trial(tmp_path))
    plan = trial_matrix(wisdom, 3)
    rng = np.random.default_rng(1)
    pauses = {("default", "as it is"): (2 * np.exp(rng.normal(0, 0.02, 3))).tolist()}
    tried = judged(pretended(wisdom, plan, tmp_path, pauses), plan.cells, looks=1)
    return page(Result(wisdom, tuple(tried), {}, KERNEL, 1234, 3))


def test_each_expectation_has_a_row_with_its_verdict(text):
    rows = [line.split(" | ") for line in text.splitlines() if line.startswith("| ")][1:]
    assert [row[0] for row in rows] == ["| 1", "| ", "| 2a", "| 2b"]
    assert rows[0][1:3] == ["A: 600 MiB", "shorter"]
    assert all(len(row) == 7 for row in rows)


def test_the_head_counts_runs_and_verdicts(text):
    assert "1,234 runs, up to 3 seeds" in text
    assert "build `d8fbc28a1c03dc5f`" in text
    assert "Of 3 expectations: " in text
