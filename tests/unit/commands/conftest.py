"""What tests of verbs share."""

import pytest


@pytest.fixture
def nothing_boots(tmp_path, monkeypatch):
    """A working directory of one's own and an empty cache; a guest that boots is a mistake."""

    def boots(*_, **__):
        raise AssertionError("something was booted")

    monkeypatch.setattr("wblab.host.process.boot.boot", boots)
    monkeypatch.setattr("wblab.study.run.run_missing", boots)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    return tmp_path
