"""Valid directories, made once for all tests."""

from pathlib import Path

import pytest
from support.originals import a_table, bisection, guest_run, live_run, matrix, rows, twin, verification


@pytest.fixture(scope="session")
def originals(tmp_path_factory) -> Path:
    room = tmp_path_factory.mktemp("originals")
    for make in (guest_run, live_run, matrix, rows, bisection, a_table, verification, twin):
        make(room / make.__name__)
    return room
