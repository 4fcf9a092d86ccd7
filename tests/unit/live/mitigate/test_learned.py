import os

import pytest

from wblab.lab.printable import printable
from wblab.live.mitigate.rule import Learned, identity, recall, remember


@pytest.fixture
def disk(tmp_path):
    """A function that sets the size and the model of disk `sda` in a copy of /sys/block."""

    def set_up(size, model=""):
        (tmp_path / "block/sda/device").mkdir(parents=True, exist_ok=True)
        (tmp_path / "block/sda/size").write_text(f"{size}\n")
        if model:
            (tmp_path / "block/sda/device/model").write_text(f"{model}\n")

    return set_up


def test_a_disk_is_identified_by_model_and_size_or_by_name(disk, tmp_path):
    disk(1000)
    assert identity("sda", tmp_path / "block") == "sda 1000"
    disk(2000, "Stick")
    assert identity("sda", tmp_path / "block") == "Stick 2000"
    assert identity("sdb", tmp_path / "block") == "sdb"


def test_stored_rates_are_read_back(tmp_path):
    path = tmp_path / "lib" / "disks.json"
    remember(path, {"sda 1000": FAST})
    remember(path, {"sdc 1000": SLOW})
    assert recall(path) == ({"sda 1000": FAST, "sdc 1000": SLOW}, "")


FAST, SLOW = Learned(bandwidth=7e7), Learned(bandwidth=3e7, cached=True)
HOSTILE = [
    "[]",
    '"fast"',
    "7e7",
    "NaN",
    "Infinity",
    "-Infinity",
    "1e999",
    "-1",
    "0",
    "1e300",
    "true",
    "9" * 5000,
    "null",
    "1",
]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "null",
        "\0",
        "[" * 99999,
        '{"a":' * 9999,
        *(f'{{"sda 1000": {value}}}' for value in HOSTILE),
        *(f'{{"sda 1000": {{"bandwidth": {value}, "cached": true}}}}' for value in HOSTILE if value != "7e7"),
        '{"sda 1000": {"cached": true}}',
        '{"sda 1000": {"bandwidth": 7e7}}',
        '{"sda 1000": {"bandwidth": 7e7, "cached": 1}}',
        '{"sda 1000": {"bandwidth": 7e7, "cached": true, "more": 1}}',
    ],
)
def test_an_unreadable_file_gives_no_rates(tmp_path, text):
    path = tmp_path / "disks.json"
    path.write_text(text)
    known, ignored = recall(path)
    assert known == {}
    assert str(path) in ignored
    assert "\n" not in printable(ignored)
    assert recall(tmp_path / "none.json") == ({}, "")
    remember(path, {"sda 1000": FAST})
    assert recall(path) == ({"sda 1000": FAST}, "")


def test_valid_entries_beside_a_damaged_one_are_used(tmp_path):
    (path := tmp_path / "disks.json").write_text('{"sda 1000": {"bandwidth": 7e7, "cached": false}, "sdb 1000": -3}')
    assert recall(path) == ({"sda 1000": FAST}, f"{path}: impossible entries: sdb 1000")


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: os.symlink("other", path)])
def test_links_and_fifos_are_neither_followed_nor_awaited(tmp_path, make):
    (tmp_path / "other").write_text('{"sda 1000": {"bandwidth": 7e7, "cached": false}}')
    make(path := tmp_path / "disks.json")
    known, ignored = recall(path)
    assert known == {}
    assert ignored.startswith(str(path))
    remember(path, {"sda 1000": SLOW})
    assert (tmp_path / "other").read_text() == '{"sda 1000": {"bandwidth": 7e7, "cached": false}}'


def test_root_neither_reads_nor_writes_files_that_others_can_change(tmp_path):
    (lib := tmp_path / "lib").mkdir()
    (path := lib / "disks.json").write_text('{"sda 1000": {"bandwidth": 7e7, "cached": false}}')
    lib.chmod(0o777)
    known, ignored = recall(path, is_root=True)
    assert known == {}
    assert str(lib) in ignored or str(tmp_path) in ignored or "belongs to" in ignored
    remember(path, {"sda 1000": SLOW}, is_root=True)
    assert path.read_text() == '{"sda 1000": {"bandwidth": 7e7, "cached": false}}'


def test_an_unwritable_directory_stores_nothing(tmp_path):
    (tmp_path / "file").touch()
    remember(tmp_path / "file" / "disks.json", {"sda 1000": 7e7})
