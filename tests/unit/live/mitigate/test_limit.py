import pytest

from wblab.core.errors import WblabError
from wblab.live.mitigate.journal import Journal
from wblab.live.mitigate.settings import StrictLimit, share_of

MIB = 1 << 20


@pytest.fixture
def place(tmp_path):
    """The directory of a disk's backing device."""
    (directory := tmp_path / "class/bdi/8:0").mkdir(parents=True)
    (tmp_path / "block/sda").mkdir(parents=True)
    (tmp_path / "block/sda/bdi").symlink_to(directory)
    for name, value in (("max_ratio_fine", 1000000), ("min_ratio_fine", 0), ("strict_limit", 0)):
        (directory / name).write_text(f"{value}\n")
    return directory


@pytest.fixture
def strict(tmp_path):
    """A limit where 100 MiB may be dirty in all."""
    return StrictLimit(Journal(tmp_path / "journal.json"), 1.0, sys=tmp_path, dirty_bytes=lambda: 100 * MIB)


def state(place):
    return [int((place / name).read_text()) for name in ("max_ratio_fine", "strict_limit")]


@pytest.mark.parametrize(
    ("limit_bytes", "all_bytes", "share"),
    [
        (10 * MIB, 100 * MIB, 100_000),
        (200 * MIB, 100 * MIB, 1_000_000),  # a fast disk has no limit of its own
        (1000, 100 * MIB, 10_000),  # a very slow one has 1 MiB
        (MIB, 0, 1_000_000),
    ],
)
def test_a_limit_becomes_a_share_of_the_global_limit(limit_bytes, all_bytes, share):
    assert share_of(limit_bytes, all_bytes) == share


def test_a_disk_gets_its_share_and_the_old_value_is_restored(place, strict, tmp_path):
    strict.check("sda")
    strict.start("sda", 10 * MIB)
    assert state(place) == [100_000, 1]
    assert Journal(tmp_path / "journal.json").undo(strict.journal.changes) == []
    assert state(place) == [1_000_000, 0]


def test_a_share_follows_the_global_limit(place, strict):
    strict.start("sda", 10 * MIB)
    strict.dirty_bytes = lambda: 50 * MIB
    strict.start("sda", 10 * MIB)
    assert state(place) == [200_000, 1]
    strict.dirty_bytes = lambda: 5 * MIB
    strict.start("sda", 10 * MIB)
    assert state(place) == [1_000_000, 0]
    assert strict.journal.changes == []


def test_a_stricter_setting_is_left_alone(place, strict):
    (place / "max_ratio_fine").write_text("50000\n")
    strict.start("sda", 10 * MIB)
    assert state(place) == [50_000, 0]
    assert strict.journal.changes == []


def test_a_share_is_not_below_the_disk_s_min_ratio(place, strict):
    (place / "min_ratio_fine").write_text("300000\n")
    strict.start("sda", 10 * MIB)
    assert state(place) == [300_000, 1]


def test_a_single_disk_has_no_limit_until_another_is_written(place, strict):
    strict.beside = True
    for elsewhere, share in ((False, 1_000_000), (True, 100_000), (False, 1_000_000)):
        strict.elsewhere = lambda disk, yes=elsewhere: yes
        strict.start("sda", 10 * MIB)
        assert state(place) == [share, share < 1_000_000]
    assert strict.journal.changes == []


def test_an_older_kernel_without_the_setting_is_reported_on_request(place, strict):
    (place / "max_ratio_fine").unlink()
    with pytest.raises(WblabError, match="no strict_limit for sda"):
        strict.check("sda")
    strict.beside = True
    strict.elsewhere = lambda disk: True
    strict.check("sda")
    strict.start("sda", 10 * MIB)
    assert strict.journal.changes == []
