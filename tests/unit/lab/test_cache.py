import multiprocessing
import os
from multiprocessing.synchronize import Event
from pathlib import Path

import pytest
from support.waiting import LIMIT_S

from wblab.core.errors import WblabError
from wblab.kernels import kernel
from wblab.lab import cache


def _hold(path: Path, held: Event, asked: Event) -> None:
    with cache.locked(path, lambda: None):
        held.set()
        asked.wait(LIMIT_S)
        path.with_name("done").touch()


def test_the_second_of_two_builds_waits_with_a_message(tmp_path: Path) -> None:
    held, asked = multiprocessing.Event(), multiprocessing.Event()
    other = multiprocessing.Process(target=_hold, args=(tmp_path / "lock", held, asked))
    other.start()
    held.wait()
    with cache.locked(tmp_path / "lock", asked.set):
        assert (tmp_path / "done").exists()
    other.join()
    assert asked.is_set()


@pytest.mark.parametrize("base", ["", "relative"])
def test_the_default_cache_is_below_home(monkeypatch: pytest.MonkeyPatch, base: str) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", base)
    assert cache.home() == Path.home() / ".cache/wblab"


def test_a_cache_that_cannot_be_made_names_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc/nowhere")
    with pytest.raises(WblabError, match="set XDG_CACHE_HOME"):
        cache.room("builds")


def test_unreadable_json_is_none(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    assert cache.read_json(path) is None
    path.write_text("[1]")
    assert cache.read_json(path) is None
    cache.write_json(path, {"a": 1})
    assert cache.read_json(path) == {"a": 1}
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.json"]


def test_a_new_cache_is_private(cache_home: Path) -> None:
    old = os.umask(0o000)
    try:
        cache.room("builds")
    finally:
        os.umask(old)
    assert cache_home.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("mode", [0o777, 0o775, 0o1777])
def test_a_cache_that_others_may_write_to_is_refused(cache_home: Path, mode: int) -> None:
    cache.room("builds")
    cache_home.chmod(mode)
    for use in (lambda: cache.room("archives"), lambda: kernel.load(cache_home / "builds/0")):
        with pytest.raises(WblabError, match=f"others may write to {cache_home}: run 'chmod go-w {cache_home}'"):
            use()


def test_a_cache_of_another_user_is_refused(cache_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.room("builds")
    monkeypatch.setattr(os, "geteuid", lambda: cache_home.stat().st_uid + 1)
    with pytest.raises(WblabError, match="belongs to another user: set XDG_CACHE_HOME"):
        cache.room("builds")
