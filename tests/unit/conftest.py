"""Fixtures for the tests of several packages."""

import pytest
from support import pictured
from support.runs import write_run
from support.specs import SPEC

from wblab.analysis.runs.run import read_run


@pytest.fixture
def spec_text():
    return SPEC


@pytest.fixture
def make_run(tmp_path):
    """Return a function that writes a run with these boundaries of its loads and returns its directory."""
    return lambda boundaries_ns, **record: write_run(tmp_path / "2026-01-01_00-00-00_base", boundaries_ns, **record)


@pytest.fixture
def run(tmp_path):
    """A run in which mw1 stalls once."""
    return read_run(write_run(tmp_path / "run", pictured.BOUNDARIES))


@pytest.fixture
def cache():
    """Return the part of a page cache that a timeline needs."""
    return pictured.page_cache()


@pytest.fixture
def cache_home(tmp_path, monkeypatch):
    """A cache of the test's own, which is empty."""
    home = tmp_path / "cache"
    monkeypatch.setenv("XDG_CACHE_HOME", str(home))
    return home / "wblab"
