"""A few recommendations on small scenarios, and synthetic figures."""

from functools import partial

import pytest
from support.trials import pretended, small_trial

from wblab.claims.trial.plan import trial_matrix
from wblab.claims.trial.recommendations import read_wisdom


@pytest.fixture
def write_wisdom(tmp_path):
    """Return a function that writes recommendations, with one text replaced by another."""
    return partial(small_trial, tmp_path)


@pytest.fixture
def wisdom(write_wisdom):
    return read_wisdom(write_wisdom())


@pytest.fixture
def matrix(wisdom):
    return trial_matrix(wisdom)


@pytest.fixture
def pretend(wisdom, matrix, tmp_path):
    """Return a function that makes synthetic measurements: longest pauses of mw1 and rates of l1 by seed."""
    return partial(pretended, wisdom, matrix, tmp_path)
