from functools import partial

import pytest

from wblab.core.errors import WblabError
from wblab.live.changes import permitted
from wblab.live.changes.journal import Journal
from wblab.live.changes.permitted import MITIGATE
from wblab.live.mitigate import settings
from wblab.live.mitigate.settings import DirtyBytes, ShortQueue, StrictLimit, share_of

MIB = 1 << 20


@pytest.fixture
def place(tmp_path, monkeypatch):
    """The directory of a disk's backing device."""
    monkeypatch.setattr(permitted, "BDIS", tmp_path / "class/bdi")
    (directory := tmp_path / "class/bdi/8:0").mkdir(parents=True)
    (tmp_path / "block/sda").mkdir(parents=True)
    (tmp_path / "block/sda/bdi").symlink_to(directory)
    for name, value in (("max_ratio_fine", 1000000), ("min_ratio_fine", 0), ("strict_limit", 0)):
        (directory / name).write_text(f"{value}\n")
    return directory


@pytest.fixture
def strict(tmp_path):
    """A limit where 100 MiB may be dirty in all."""
    return StrictLimit(Journal(tmp_path / "journal.json", MITIGATE), 1.0, sys=tmp_path, dirty_bytes=lambda: 100 * MIB)


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
    assert Journal(tmp_path / "journal.json", MITIGATE).undo(strict.journal.changes) == []
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


def test_the_dirty_limits_of_a_machine_are_lowered_and_restored(tmp_path, monkeypatch):
    monkeypatch.setattr(permitted, "SYSCTLS", tmp_path)
    (vm := tmp_path / "vm").mkdir()
    files = {"dirty_bytes": "0", "dirty_ratio": "20", "dirty_background_bytes": "5000", "dirty_background_ratio": "0"}
    for name, text in files.items():
        (vm / name).write_text(f"{text}\n")
    journal = Journal(tmp_path / "journal.json", MITIGATE)
    DirtyBytes(journal, 0.5, vm=vm).start("sda", 10 * MIB)
    assert [(vm / name).read_text() for name in files] == [str(5 * MIB), "20\n", str(5 * MIB // 2), "0\n"]
    assert Journal(tmp_path / "journal.json", MITIGATE).undo(journal.changes) == []
    assert [(vm / name).read_text() for name in ("dirty_ratio", "dirty_background_bytes")] == ["20", "5000"]


@pytest.fixture
def disk(tmp_path):
    """A function that makes a disk `sda` in a copy of /sys/block."""

    def make(name, *attributes):
        queue = tmp_path / "sda/queue"
        (queue / "iosched").mkdir(parents=True)
        (queue / "scheduler").write_text("none mq-deadline kyber bfq\n".replace(name, f"[{name}]"))
        (tmp_path / "sda/dev").write_text("8:0\n")
        for attribute in attributes:
            (queue / "iosched" / attribute).touch()
        return "sda"

    return make


@pytest.fixture
def objection(tmp_path):
    """Return the function of that name, for that copy."""
    return partial(settings.objection, blocks=tmp_path)


@pytest.mark.parametrize("name", ["none", "kyber", "mq-deadline"])
def test_schedulers_that_ignore_priorities(disk, objection, name):
    said = objection(disk(name), "idle", None)
    assert f"sda uses the scheduler {name}, which ignores I/O priorities; bfq honours them" in said
    assert "echo bfq >" in said


def test_bfq_has_all(disk, objection):
    name = disk("bfq")
    assert [objection(name, policy, None) for policy in ("idle", "best-effort-7", "io.weight")] == ["", "", ""]


def test_mq_deadline_has_classes_but_no_levels(disk, objection):
    name = disk("mq-deadline", "prio_aging_expire")
    assert objection(name, "idle", None) == ""
    assert "no levels" in objection(name, "best-effort-7", None)


def test_io_weight_needs_bfq_or_iocost(disk, objection, tmp_path):
    name = disk("none")
    assert "neither" in objection(name, "io.weight", None)
    qos = tmp_path / "io.cost.qos"
    qos.write_text("8:16 enable=1 ctrl=auto\n8:0 enable=0 ctrl=auto\n")
    assert "neither" in objection(name, "io.weight", tmp_path)
    qos.write_text("8:16 enable=0\n8:0 enable=1 ctrl=auto\n")
    assert objection(name, "io.weight", tmp_path) == ""


def test_other_policies_need_no_scheduler(disk, objection):
    assert objection(disk("none"), "memory.high", None) == ""


def test_a_disk_without_a_scheduler_has_none(tmp_path):
    assert settings.scheduler_of("nowhere", tmp_path) == "none"


@pytest.fixture
def attribute(tmp_path, monkeypatch):
    monkeypatch.setattr(permitted, "DISKS", tmp_path)
    attributes = tmp_path / "sda" / "queue"
    attributes.mkdir(parents=True)
    (attributes / "nr_requests").write_text("256\n")
    (attributes / "max_sectors_kb").write_text("128\n")
    return attributes / "nr_requests"


def test_the_queue_is_shortened_and_restored(attribute, tmp_path):
    journal = Journal(tmp_path / "journal.json", MITIGATE)
    short = ShortQueue(journal, 0.5, blocks=tmp_path)
    short.check("sda")
    short.start("sda", 10 * MIB)
    assert attribute.read_text() == "40"
    short.start("sda", 2 * MIB)  # the disk turned out to be slower
    assert attribute.read_text() == "8"
    assert [(change.back, change.new) for change in journal.changes] == [("256", "8")]
    assert Journal(tmp_path / "journal.json", MITIGATE).undo(journal.changes) == []
    assert attribute.read_text() == "256"


def test_large_requests_get_smaller_where_the_fewest_are_too_long(attribute, tmp_path):
    size = attribute.with_name("max_sectors_kb")
    size.write_text("4096\n")
    journal = Journal(tmp_path / "journal.json", MITIGATE)
    short = ShortQueue(journal, 0.5, blocks=tmp_path)
    for bandwidth, found in ((20 * MIB, ["4", "2560"]), (MIB, ["4", "128"]), (100 * MIB, ["12", "4096"])):
        short.start("sda", bandwidth)
        assert [attribute.read_text(), size.read_text()] == found
    short.start("sda", MIB)
    assert Journal(tmp_path / "journal.json", MITIGATE).undo(journal.changes) == []
    assert [attribute.read_text(), size.read_text()] == ["256", "4096"]


def test_a_short_queue_is_left_alone(attribute, tmp_path):
    journal = Journal(tmp_path / "journal.json", MITIGATE)
    ShortQueue(journal, 0.5, blocks=tmp_path).start("sda", 1000 * MIB)
    assert (attribute.read_text(), journal.changes) == ("256\n", [])


def test_the_queue_is_restored_if_the_disk_turns_out_to_be_fast(attribute, tmp_path):
    journal = Journal(tmp_path / "journal.json", MITIGATE)
    short = ShortQueue(journal, 0.5, blocks=tmp_path)
    short.start("sda", 10 * MIB)
    short.start("sda", 1000 * MIB)
    assert (attribute.read_text(), journal.changes) == ("256", [])


def test_a_disk_without_a_queue_is_refused(attribute, tmp_path):
    with pytest.raises(WblabError, match="no request queue of its own"):
        ShortQueue(Journal(tmp_path / "journal.json", MITIGATE), 0.5, blocks=tmp_path).check("sdb")
