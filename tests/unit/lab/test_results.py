import multiprocessing
import re
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import pytest

from wblab.lab import results as directories

SPAWN = multiprocessing.get_context("fork")


@pytest.fixture(autouse=True)
def _one_second(monkeypatch):
    """All names are taken within one second of the clock."""
    monkeypatch.setattr(directories.time, "strftime", lambda form: "2024-01-02_03-04-05")


def test_names_have_the_documented_form(tmp_path, monkeypatch):
    monkeypatch.undo()
    staged = directories.stage(tmp_path / "exp", "base")
    assert re.fullmatch(r"_\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d_base", staged.name)
    assert staged.is_dir()
    final = directories.commit(staged)
    assert final.name == staged.name[1:]
    assert not staged.exists()


def test_a_taken_name_gets_a_suffix(tmp_path):
    staged = [directories.stage(tmp_path, "a") for _ in range(3)]
    assert [path.name for path in staged] == [f"_2024-01-02_03-04-05_a{suffix}" for suffix in ("", "-2", "-3")]
    final = directories.commit(staged[0])
    assert directories.stage(tmp_path, "a").name == "_2024-01-02_03-04-05_a-4"
    assert final.name == "2024-01-02_03-04-05_a"


def test_a_name_of_a_succeeded_run_is_not_reused(tmp_path):
    directories.commit(directories.stage(tmp_path, "a"))
    assert directories.stage(tmp_path, "a").name == "_2024-01-02_03-04-05_a-2"


@pytest.mark.parametrize("kind", ["directory", "file"])
def test_committing_overwrites_nothing(tmp_path, kind):
    staged = directories.stage(tmp_path, "a")
    (staged / "mine").touch()
    taken = tmp_path / staged.name[1:]
    if kind == "directory":
        taken.mkdir()
        (taken / "theirs").write_text("theirs")
    else:
        taken.write_text("theirs")
    final = directories.commit(staged)
    assert final.name == "2024-01-02_03-04-05_a-2"
    assert (final / "mine").exists()
    assert (taken / "theirs" if kind == "directory" else taken).read_text() == "theirs"


def make_run(results):
    staged = directories.stage(results, "a")
    (staged / "file").touch()
    return staged, directories.commit(staged)


def test_racing_threads_get_separate_directories(tmp_path):
    with ThreadPoolExecutor(8) as pool:
        runs = list(pool.map(make_run, [tmp_path] * 40))
    assert len({final for _, final in runs}) == 40
    assert len(list(tmp_path.iterdir())) == 40
    assert all((final / "file").exists() for _, final in runs)


def test_racing_processes_get_separate_directories(tmp_path):
    with ProcessPoolExecutor(4, mp_context=SPAWN) as pool:
        runs = list(pool.map(make_run, [tmp_path] * 40))
    assert len({final for _, final in runs}) == 40
    assert all((final / "file").exists() for _, final in runs)
