from functools import partial

import pytest

from wblab.live.mitigate import settings


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
