import tomllib

import pytest
from support.specs import SPEC


@pytest.fixture
def table():
    """A spec as a table of its own, for a test to change."""
    return tomllib.loads(SPEC)
