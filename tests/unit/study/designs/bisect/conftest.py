import pytest
from support.repository import make_repository

from wblab.lab.progress import silent


@pytest.fixture
def repository(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return make_repository(tmp_path / "linux", Makefile="VERSION = 7\nPATCHLEVEL = 3\n")


@pytest.fixture
def report():
    return silent
