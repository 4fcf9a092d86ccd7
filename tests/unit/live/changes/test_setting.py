"""A file of the kernel is set, noted before, and gets back what it had."""

from pathlib import Path

import pytest

from wblab.core.errors import WblabError
from wblab.live.changes import permitted
from wblab.live.changes.journal import Journal
from wblab.live.changes.permitted import MITIGATE
from wblab.live.changes.setting import give_back, keep, number_before, put


@pytest.fixture
def journal(tmp_path):
    return Journal(tmp_path / "journal.json", MITIGATE)


@pytest.fixture
def file(tmp_path, monkeypatch):
    """A file that the lab may set, in a directory in place of /sys/block."""
    monkeypatch.setattr(permitted, "DISKS", tmp_path / "block")
    path = tmp_path / "block/sda/queue/nr_requests"
    path.parent.mkdir(parents=True)
    path.write_text("256\n")
    return path


def test_values_are_changed_repeatedly_and_restored(journal, file):
    for number in (40, 8, 100):
        keep(journal, file, number)
        assert file.read_text() == str(number)
        assert number_before(journal, file) == 256
        assert len(journal.changes) == 1
    give_back(journal, file)
    assert (file.read_text(), journal.changes) == ("256", [])


def test_nearly_equal_values_are_not_written(journal, file):
    keep(journal, file, 40)
    keep(journal, file, 41)
    assert file.read_text() == "40"


def test_a_value_already_set_is_not_a_change(journal, file):
    keep(journal, file, 256)
    assert journal.changes == []


def test_a_value_set_by_others_in_the_meantime_is_restored(journal, file):
    keep(journal, file, 40)
    file.write_text("128\n")
    assert number_before(journal, file) == 128
    keep(journal, file, 20)
    give_back(journal, file)
    assert file.read_text() == "128"


@pytest.mark.parametrize("default", ["256", "512"])
def test_a_replugged_device_starts_afresh(journal, file, default):
    keep(journal, file, 40)
    file.write_text(f"{default}\n")
    keep(journal, file, 40)
    assert (file.read_text(), len(journal.changes)) == ("40", 1)
    give_back(journal, file)
    assert file.read_text() == default


def test_a_removed_device_has_nothing_to_restore(journal, file):
    keep(journal, file, 40)
    file.unlink()
    assert journal.undo(list(journal.changes)) == []


def test_a_value_set_through_the_other_file_of_a_pair_is_restored(journal, tmp_path, monkeypatch):
    monkeypatch.setattr(permitted, "SYSCTLS", tmp_path)
    (tmp_path / "vm").mkdir()
    file, ratio = tmp_path / "vm/dirty_bytes", tmp_path / "vm/dirty_ratio"
    ratio.write_text("20\n")
    file.write_text("0\n")
    keep(journal, file, 4096)
    ratio.write_text("0\n")  # as the kernel does
    keep(journal, file, 8192 * 2)
    assert len(journal.changes) == 1
    give_back(journal, file)
    assert ratio.read_text() == "20"


def test_a_number_that_the_kernel_rounds_is_restored(journal, file, monkeypatch):
    write = Path.write_text
    monkeypatch.setattr(Path, "write_text", lambda path, text: write(path, str(int(text) // 8 * 8)))
    for number in (44, 20, 21):
        keep(journal, file, number)
        assert [change.new for change in journal.changes] == [file.read_text()]
        assert number_before(journal, file) == 256
    give_back(journal, file)
    assert file.read_text() == "256"


@pytest.mark.parametrize("name", ["rotational", "../../../victim"])
def test_a_file_that_is_not_in_the_table_is_never_set(journal, file, tmp_path, name):
    (tmp_path / "victim").write_text("precious")
    (file.parent / "rotational").write_text("1")
    with pytest.raises(WblabError, match=r"the lab does not set .*: nothing was changed"):
        put(journal, file.parent / name, "4")
    assert ((tmp_path / "victim").read_text(), (file.parent / "rotational").read_text()) == ("precious", "1")
    assert journal.changes == []


@pytest.mark.parametrize("killed", ["note", "write_text", "forget"])
def test_after_a_kill_the_next_daemon_restores_the_original_value(journal, file, monkeypatch, killed):
    """The kill comes before the second number is noted, before it is written, or before the first is discarded."""
    keep(journal, file, 40)
    owner = type(file) if killed == "write_text" else Journal
    with monkeypatch.context() as patch:
        patch.setattr(owner, killed, lambda *_: (_ for _ in ()).throw(WblabError("killed")))
        with pytest.raises(WblabError, match="killed"):
            keep(journal, file, 8)
    assert journal.undo(list(journal.changes)) == []
    assert (file.read_text(), journal.changes) == ("256", [])
