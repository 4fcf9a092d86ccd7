import tempfile
import tomllib
from pathlib import Path

import pytest
from support.specs import SPEC


@pytest.fixture
def table():
    """A spec as a table of its own, for a test to change."""
    return tomllib.loads(SPEC)


@pytest.fixture
def disk():
    """A directory on a filesystem that has a disk below it."""
    with tempfile.TemporaryDirectory(dir="/var/tmp", prefix="wblab-tests-") as directory:
        yield Path(directory)
