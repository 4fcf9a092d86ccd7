"""Another machine by its facts: the disk under a directory, its queue, driver, limits and rate; what lacks is said."""

import io
import tarfile
from dataclasses import replace

import pytest
from support.statetexts import MACHINES, headed

from wblab.core.errors import InputError
from wblab.lab.disks import read_disk
from wblab.live.advise.begin import AdviceQuestion, begin
from wblab.live.advise.machinesite import site_elsewhere
from wblab.live.runs.request import INNOCENT
from wblab.live.twin.described import SYNCING, largest_folio
from wblab.live.twin.elsewhere import Elsewhere
from wblab.live.twin.make import make
from wblab.live.twin.scale import twin_of
from wblab.study.asked import StudyRequest
from wblab.study.subject import subject

MACHINE = replace(MACHINES[5], busy=())  # nvme0n1 and sdb
USB = [
    "==> /sys/block/sdb/drivers <==",
    "1:0:0:0 ../drivers/sd",
    "1-1:1.0 ../drivers/usb-storage",
    "usb1 ../drivers/usb",
]
DISKS = [
    *("==> /sys/block/nvme0n1/dev <==", "259:0", "==> /sys/block/sdb/dev <==", "8:16"),
    *("==> /sys/block/dm-0/dev <==", "253:0", "==> /sys/block/dm-0/dm/name <==", "vg-srv"),
    *("==> /sys/block/dm-0/slaves <==", "sdb"),
    *("==> /sys/class/bdi/259:0/max_ratio <==", "100", "==> /sys/class/bdi/259:0/max_ratio_fine <==", "50000"),
    *("==> /sys/class/bdi/259:0/strict_limit <==", "1"),
]
MOUNTS = [
    "==> /proc/self/mountinfo <==",
    "22 1 259:2 / / rw,relatime shared:1 - ext4 /dev/nvme0n1p2 rw",
    "23 22 0:5 / /proc rw - proc proc rw",
    "24 22 253:0 / /srv rw - xfs /dev/mapper/vg-srv rw",
    "25 22 8:17 / /mnt/a\\040stick rw - vfat /dev/sdb1 rw",
]
STATS = "==> /proc/diskstats <==\n 259 2 nvme0n1p2 1 2 3 4 5 6 7 8 9 9 9\n   8 16 sdb 10 0 80 5 100 0 {} 900 0 {} 905\n"


def facts(tmp_path, *more, busy=True):
    path = tmp_path / "facts.txt"
    before, after = STATS.format(1000, 5000), STATS.format(1000 + (81920 if busy else 0), 5000 + 4000 * busy)
    path.write_text("\n".join([before, *headed(MACHINE), *DISKS, *USB, *MOUNTS, *more, after]))
    return path


@pytest.mark.parametrize(
    ("directory", "found"),
    [
        ("/home", ("ext4", "nvme0n1", ("nvme0n1",))),
        ("/srv/data", ("xfs", "dm-0", ("sdb",))),
        ("/mnt/a stick", ("vfat", "sdb", ("sdb",))),
    ],
)
def test_the_disk_under_a_directory_there(tmp_path, directory, found):
    place = Elsewhere.read(facts(tmp_path), directory).place
    assert (place.directory, (place.filesystem, place.device, place.disks)) == (directory, found)


def test_what_its_facts_say_is_the_machine(tmp_path):
    there = Elsewhere.read(facts(tmp_path), "/srv")
    found = there.machine(INNOCENT, None)
    assert (found.memory_bytes, found.filesystem, found.scheduler) == (MACHINE.memory, "xfs", "bfq")
    assert found.dirty_bytes == pytest.approx(MACHINE.dirty, abs=1 << 16)
    assert (found.queue.driver, found.queue.requests, found.queue.request_bytes) == ("usb-storage", 60, 1 << 20)
    assert found.write_bps == 81920 * 512 // 4
    assert found.timers == {"vm.dirty_expire_centisecs": 3000, "vm.dirty_writeback_centisecs": 500}
    assert twin_of(found, "twin").spec.disk


@pytest.mark.parametrize(
    ("filesystem", "version", "has"),
    [
        ("ext4", "Linux version 6.16.0 (a@b)", True),
        ("ext4", "6.12.43", False),
        ("xfs", "Linux version 6.6.1-arch (a@b)", True),
        ("xfs", "6.1.0-57-amd64", False),
        ("vfat", "7.2.11", False),
        ("ext4", "", False),
    ],
)
def test_since_when_a_write_makes_one_folio(filesystem, version, has):
    assert (largest_folio(filesystem, version) > 4096) == has


def test_who_synced_while_a_recorder_watched_has_loads_like_it(tmp_path):
    there = Elsewhere.read(facts(tmp_path), "/srv")
    found = replace(there, syncs=True, block_bytes=1 << 20).machine(INNOCENT, None)
    assert found.innocent == INNOCENT | SYNCING
    assert found.block_bytes == 1 << 20
    assert there.machine(INNOCENT, None).innocent == INNOCENT


def test_a_disk_of_an_unknown_driver_that_takes_one_request_at_a_time(tmp_path):
    there = Elsewhere.read(facts(tmp_path), "/")  # nvme0n1: these facts lack its driver
    seen = replace(there, one_by_one=frozenset({"259:0"}))
    assert (there.queue.driver, seen.queue.driver) == ("ubd", "usb-storage")
    assert seen.queue.requests == there.queue.requests
    assert "wbt" not in site_elsewhere(seen).abilities
    assert [note for note in seen.notes if "one request at a time" in note]
    known = replace(Elsewhere.read(facts(tmp_path), "/srv"), one_by_one=frozenset({"8:16"}))
    assert not known.is_one_by_one
    several = replace(there, several=frozenset({"259:0"}))
    disk = read_disk("ssd")
    assert [each.machine(INNOCENT, disk).at_once for each in (there, several)] == [0, 2]


def test_a_limit_of_its_own_that_the_disk_has(tmp_path):
    there = Elsewhere.read(facts(tmp_path), "/")
    assert (there.bdi, there.own_limit) == ("259:0", 50000)
    site = site_elsewhere(there)
    assert (site.disks, site.abilities, site.known_by) == (
        ("nvme0n1",),
        ("own limit",),
        {"nvme0n1": 'KERNEL=="nvme0n1"'},
    )


def test_what_lacks_is_said_with_what_to_do(tmp_path):
    with pytest.raises(InputError, match="has several disks: give a directory of that machine, too: /, /srv"):
        Elsewhere.read(facts(tmp_path))
    with pytest.raises(InputError, match="does not say how fast sdb is, because it was not busy: give --disk a model"):
        Elsewhere.read(facts(tmp_path, busy=False), "/srv").machine(INNOCENT, None)
    assert Elsewhere.read(facts(tmp_path, busy=False), "/srv").machine(INNOCENT, read_disk("hdd")).disk
    other = tmp_path / "other.txt"
    other.write_text("==> /proc/meminfo <==\nDirty: 5 kB\nWriteback: 0 kB\n")
    with pytest.raises(InputError, match="lacks the dirty limits"):
        Elsewhere.read(other)
    other.write_text("nothing")
    with pytest.raises(InputError, match="has no facts of a machine: wblab recorder --facts"):
        Elsewhere.read(other)


def test_names_that_could_do_harm_are_no_disks(tmp_path):
    evil = ["==> /sys/block/$(reboot)/dev <==", "8:32", "==> /proc/self/mountinfo <=="]
    rows = ["30 1 8:32 / /evil rw - ext4 /dev/$(reboot) rw", "31 1 259:2 / / rw - x;y /dev/nvme0n1p2 rw"]
    with pytest.raises(InputError, match="is on no disk in"):
        Elsewhere.read(facts(tmp_path, *evil, *rows), "/evil")
    queue = ["==> /sys/block/sdb/queue/nr_requests <==", "-5"]
    with pytest.raises(InputError, match="is not a number that a queue has"):
        Elsewhere.read(facts(tmp_path, *MOUNTS, *queue), "/srv").machine(INNOCENT, None)


def test_a_study_of_a_file_with_facts_is_a_twin(tmp_path):
    text = facts(tmp_path)
    packed = tmp_path / "recorder-1.tar.gz"
    with tarfile.open(packed, "w:gz") as archive:
        about = tarfile.TarInfo("facts.txt")
        about.size = text.stat().st_size
        archive.addfile(about, io.BytesIO(text.read_bytes()))
    for path in (text, packed):
        assert subject(StudyRequest(results=tmp_path, what=str(path)))[0] == "twin"
        assert Elsewhere.read(path, "/srv").place.disks == ("sdb",)
    with pytest.raises(InputError, match="give a directory of that machine"):
        make(StudyRequest(results=tmp_path, what=str(packed)))


def test_a_study_and_an_advice_say_the_same_of_a_machine(tmp_path, monkeypatch):
    """Seen: `study FILE` left out what the recording shows, and that the model of the disk is doubtful."""
    (model := tmp_path / "mine.toml").write_text(
        '[disk]\nmodel = "device"\nwrite_bps = "3MB/s"\n\n[measured]\nexplained = 0.13\n'
    )
    there = replace(Elsewhere.read(facts(tmp_path), "/srv"), block_bytes=1 << 20)
    question = AdviceQuestion(site=site_elsewhere(there), there=there, disk=str(model), seeds=[1])
    advised = begin(question, tmp_path, lambda *_: None)[1].notes
    plans = []

    def planned(plan, resolve):
        plans.append(plan)
        raise InputError("that is enough")

    monkeypatch.setattr("wblab.live.twin.make.Elsewhere.read", lambda *_: there)
    monkeypatch.setattr("wblab.live.twin.make.Planned.new", planned)
    with pytest.raises(InputError, match="that is enough"):
        make(StudyRequest(results=tmp_path, what=str(facts(tmp_path)), parts=("/srv",), disk=str(model)))
    notes = plans[0].about["notes"]
    assert [note for note in advised if "the files find disks by name" not in note] == notes
    assert [note for note in notes if "explains 13% of what was measured" in note]
    assert [note for note in notes if "its heaviest program wrote 1 MiB at a time" in note]
