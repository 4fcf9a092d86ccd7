import os

import pytest

from wblab.core.errors import WblabError
from wblab.lab.printable import printable
from wblab.mitigate import learned
from wblab.mitigate.disk import Disks
from wblab.mitigate.learned import recall, remember


@pytest.fixture
def sizes(tmp_path, monkeypatch):
    """A function that sets the size of disk `sda` in a copy of /sys/block."""
    monkeypatch.setattr(learned, "_SYS", tmp_path / "block")

    def set_size(size):
        (tmp_path / "block/sda").mkdir(parents=True, exist_ok=True)
        (tmp_path / "block/sda/size").write_text(f"{size}\n")

    set_size(1000)
    return set_size


def test_kept_for_the_same_disk(tmp_path, sizes):
    path = tmp_path / "lib" / "disks.json"
    remember(path, {"sda": 7e7})
    remember(path, {"sdc": 3e7})
    assert recall(path, ["sda", "sdb"]) == ({"sda": 7e7}, "")
    sizes(2000)
    assert recall(path, ["sda"]) == ({}, "")


HOSTILE = ["[]", '"fast"', "NaN", "Infinity", "-Infinity", "1e999", "-1", "0", "1e300", "true", "9" * 5000, "null", "1"]


@pytest.mark.parametrize(
    "text", ["", "[]", "null", "\0", "[" * 99999, '{"a":' * 9999, *(f'{{"sda 1000": {value}}}' for value in HOSTILE)]
)
def test_what_cannot_be_read_is_not_known(tmp_path, sizes, text):
    path = tmp_path / "disks.json"
    path.write_text(text)
    known, ignored = recall(path, ["sda"])
    assert known == {}
    assert str(path) in ignored
    assert "\n" not in printable(ignored)
    assert recall(tmp_path / "none.json", ["sda"]) == ({}, "")
    remember(path, {"sda": 7e7})
    assert recall(path, ["sda"]) == ({"sda": 7e7}, "")


def test_what_is_good_beside_it_is_known(tmp_path, sizes):
    (path := tmp_path / "disks.json").write_text('{"sda 1000": 7e7, "sdb 1000": -3}')
    assert recall(path, ["sda", "sdb"]) == ({"sda": 7e7}, f"{path}: no bandwidth: sdb 1000")


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: os.symlink("other", path)])
def test_what_is_no_file_is_neither_followed_nor_waited_for(tmp_path, sizes, make):
    (tmp_path / "other").write_text('{"sda 1000": 7e7}')
    make(path := tmp_path / "disks.json")
    known, ignored = recall(path, ["sda"])
    assert known == {}
    assert ignored.startswith(str(path))
    remember(path, {"sda": 3e7})
    assert (tmp_path / "other").read_text() == '{"sda 1000": 7e7}'


def test_root_reads_and_writes_nothing_that_others_can_change(tmp_path, sizes, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    (lib := tmp_path / "lib").mkdir()
    (path := lib / "disks.json").write_text('{"sda 1000": 7e7}')
    lib.chmod(0o777)
    known, ignored = recall(path, ["sda"])
    assert known == {}
    assert str(lib) in ignored or str(tmp_path) in ignored or "belongs to" in ignored
    remember(path, {"sda": 3e7})
    assert path.read_text() == '{"sda 1000": 7e7}'


def test_where_it_cannot_be_written_it_is_not_kept(tmp_path, sizes):
    (tmp_path / "file").touch()
    remember(tmp_path / "file" / "disks.json", {"sda": 7e7})


def test_known_until_it_is_measured():
    try:
        disks = Disks()
    except WblabError as error:
        pytest.skip(str(error))
    (name, *_) = disks.known
    assert not disks.bandwidths
    disks.assume({name: 7e7})
    assert disks.bandwidths == {name: 7e7}
