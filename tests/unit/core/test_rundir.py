import json
import multiprocessing
import re
import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest

from wblab.core import rundir
from wblab.core.cycles import stamps_for
from wblab.core.loads import Control, Load
from wblab.core.tables import from_table

SPAWN = multiprocessing.get_context("fork")


@pytest.fixture(autouse=True)
def _one_second(monkeypatch):
    """All names are taken within one second of the clock."""
    monkeypatch.setattr(rundir.time, "strftime", lambda form: "2024-01-02_03-04-05")


def test_names_are_those_of_the_design(tmp_path, monkeypatch):
    monkeypatch.undo()
    staged = rundir.stage(tmp_path / "exp", "base")
    assert re.fullmatch(r"_\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d_base", staged.name)
    assert staged.is_dir()
    final = rundir.commit(staged)
    assert final.name == staged.name[1:]
    assert not staged.exists()


def test_a_taken_name_gets_a_suffix(tmp_path):
    staged = [rundir.stage(tmp_path, "a") for _ in range(3)]
    assert [path.name for path in staged] == [f"_2024-01-02_03-04-05_a{suffix}" for suffix in ("", "-2", "-3")]
    final = rundir.commit(staged[0])
    assert rundir.stage(tmp_path, "a").name == "_2024-01-02_03-04-05_a-4"
    assert final.name == "2024-01-02_03-04-05_a"


def test_a_name_whose_run_succeeded_is_taken(tmp_path):
    rundir.commit(rundir.stage(tmp_path, "a"))
    assert rundir.stage(tmp_path, "a").name == "_2024-01-02_03-04-05_a-2"


@pytest.mark.parametrize("kind", ["directory", "file"])
def test_committing_overwrites_nothing(tmp_path, kind):
    staged = rundir.stage(tmp_path, "a")
    (staged / "mine").touch()
    taken = tmp_path / staged.name[1:]
    if kind == "directory":
        taken.mkdir()
        (taken / "theirs").write_text("theirs")
    else:
        taken.write_text("theirs")
    final = rundir.commit(staged)
    assert final.name == "2024-01-02_03-04-05_a-2"
    assert (final / "mine").exists()
    assert (taken / "theirs" if kind == "directory" else taken).read_text() == "theirs"


def make_run(results):
    staged = rundir.stage(results, "a")
    (staged / "file").touch()
    return staged, rundir.commit(staged)


def test_threads_that_race_get_directories_of_their_own(tmp_path):
    with ThreadPoolExecutor(8) as pool:
        runs = list(pool.map(make_run, [tmp_path] * 40))
    assert len({final for _, final in runs}) == 40
    assert len(list(tmp_path.iterdir())) == 40
    assert all((final / "file").exists() for _, final in runs)


def test_processes_that_race_get_directories_of_their_own(tmp_path):
    with ProcessPoolExecutor(4, mp_context=SPAWN) as pool:
        runs = list(pool.map(make_run, [tmp_path] * 40))
    assert len({final for _, final in runs}) == 40
    assert all((final / "file").exists() for _, final in runs)


def test_a_reader_never_sees_half_of_a_json_file(tmp_path):
    path = tmp_path / "x.json"
    values = [{"n": number, "text": "é" * 20_000} for number in range(2)]
    rundir.write_json(path, values[0])
    done = threading.Event()

    def write():
        for number in range(60):
            rundir.write_json(path, values[number % 2])
        done.set()

    writer = threading.Thread(target=write)
    writer.start()
    while not done.is_set():
        assert json.loads(path.read_text()) in values
    writer.join()
    assert [item.name for item in tmp_path.iterdir()] == ["x.json"]


def test_a_json_file_is_left_as_it_was_when_the_new_one_cannot_be_written(tmp_path):
    path = tmp_path / "x.json"
    rundir.write_json(path, 1)
    with pytest.raises(TypeError):
        rundir.write_json(path, object())
    assert path.read_text() == "1\n"


def test_a_load_is_written_as_the_design_has_it(tmp_path):
    load = Control(idle=5)
    stamps = stamps_for(load)
    for time_ns in (10, 20, 31):
        stamps.append(time_ns)
    rundir.write_load(tmp_path, "c1", load, 7, stamps)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["load.c1.json", "load.c1.npy"]
    assert np.load(tmp_path / "load.c1.npy", allow_pickle=False).tolist() == [10, 20, 31]
    record = json.loads((tmp_path / "load.c1.json").read_text())
    assert list(record) == ["name", "kind", "parameters", "pid", "unit", "cycles", "end", "error", "status"]
    assert (record["name"], record["kind"], record["pid"], record["unit"]) == ("c1", "control", 7, "ns")
    assert record["cycles"] == 2
    assert from_table(Load, record["parameters"], exact=True) == load


def test_a_load_that_never_began_has_no_cycles(tmp_path):
    load = Control(idle=5)
    rundir.write_load(tmp_path, "c1", load, 7, stamps_for(load))
    assert json.loads((tmp_path / "load.c1.json").read_text())["cycles"] == 0
    assert np.load(tmp_path / "load.c1.npy").tolist() == []
