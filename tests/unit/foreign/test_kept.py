"""A recorder's file, opened: what it holds is said, and it is kept as it is."""

import json

import pytest
from support.keptrecordings import kept

from wblab.cli import main


def test_what_it_holds_is_said_and_it_is_kept_as_it_is(tmp_path, capsys):
    file, results = kept(tmp_path / "recorder-1.tar.gz"), tmp_path / "exp"
    assert main(["open", str(file), "--exp", str(results)]) == 0
    said = capsys.readouterr().out
    assert said.startswith("recorder-1.tar.gz is a recorder's: ")
    assert "with Linux 5.10.0, where task 42 stalled for 910 ms." in " ".join(said.split())
    for _ in range(2):  # again, it is there already
        assert main(["open", str(file), "--exp", str(results), "--keep", "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["kept"] == str(results / file.name)
    assert (results / file.name).read_bytes() == file.read_bytes()
    assert [path.name for path in results.iterdir()] == [file.name]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"cpu0.raw": b"seven bytes"}, "cpu*.raw is damaged"),
        ({"recorder": None}, "lacks 'recorder'"),
    ],
)
def test_a_damaged_one_is_refused_and_not_kept(tmp_path, capsys, changes, said):
    file, results = kept(tmp_path / "recorder-1.tar.gz", **changes), tmp_path / "exp"
    assert main(["open", str(file), "--exp", str(results), "--keep"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line
    assert not results.exists()


def test_another_file_of_that_name_stays(tmp_path, capsys):
    file, place = kept(tmp_path / "recorder-1.tar.gz"), tmp_path / "place"
    place.mkdir()
    (place / file.name).write_text("mine")
    assert main(["open", str(file), "--to", str(place)]) == 2
    assert "is another file of that name" in capsys.readouterr().err
    assert (place / file.name).read_text() == "mine"
