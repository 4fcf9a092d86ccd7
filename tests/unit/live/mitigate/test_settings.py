import pytest

from wblab.core.errors import WblabError
from wblab.live.mitigate.journal import Journal
from wblab.live.mitigate.settings import give_back, keep, number_before


@pytest.fixture
def journal(tmp_path):
    return Journal(tmp_path / "journal.json")


@pytest.fixture
def file(tmp_path):
    (path := tmp_path / "file").write_text("256\n")
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


def test_a_value_set_through_the_other_file_of_a_pair_is_restored(journal, file, tmp_path):
    (ratio := tmp_path / "ratio").write_text("20\n")
    file.write_text("0\n")
    keep(journal, file, 4096, instead=ratio)
    ratio.write_text("0\n")  # as the kernel does
    keep(journal, file, 8192 * 2, instead=ratio)
    assert len(journal.changes) == 1
    give_back(journal, file)
    assert ratio.read_text() == "20"


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
