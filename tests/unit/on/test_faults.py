"""Faults of a disk as options ask for them, and when the guest carries them out."""

import pytest

from wblab.core.errors import InputError, WblabError
from wblab.core.loads.base import NEVER
from wblab.on import faults
from wblab.on.faults import Faults, FaultyDisk, crash_points, crash_time, failing, stall
from wblab.on.order import Order, read_order

S, MS = 10**9, 10**6


@pytest.mark.parametrize(
    ("text", "points"), [("17", [17]), ("1..4", [1, 2, 3, 4]), ("10..40/15", [10, 25, 40]), ("5..5", [5])]
)
def test_power_is_lost_after_a_number_of_writes_or_each_of_several(text, points):
    assert crash_points(text) == points


@pytest.mark.parametrize("text", ["0", "-1", "x", "4..2", "1..1000", "7/2", "1..2/0", "", "1..", "²"])
def test_other_numbers_of_writes_are_refused(text):
    with pytest.raises(InputError, match="--crash-after"):
        crash_points(text)


def test_times_of_faults():
    assert (crash_time("1500ms"), crash_time("end")) == (1500 * MS, NEVER)
    assert stall("3s:2s") == (3 * S, 2 * S)
    with pytest.raises(InputError, match="say when and for how long, as in 3s:2s"):
        stall("3s")


def test_an_order_has_its_faults_as_text():
    order = Order(("true",), "/x", faults=Faults(crash_after=3, then="check"))
    assert read_order(order.text()) == order


class Kernel:
    """The attribute of a disk, and another one: what they were told, and what the first says."""

    def __init__(self):
        self.told, self.says = [], "on 0 0 0"

    def with_name(self, _name):
        return self

    joinpath = with_name

    def write_text(self, text):
        self.told.append(text)

    def read_text(self):
        return self.says


@pytest.fixture
def disk_of(tmp_path, monkeypatch):
    monkeypatch.setattr(faults, "_mounted", lambda _place: ("/dev/ubda", "ext4", 0, ""))
    monkeypatch.setattr(faults.os, "sync", lambda: None)

    def disk(of):
        made = FaultyDisk(of, 1, tmp_path, for_root=True)
        made._attribute = kernel = Kernel()
        return made, kernel

    return disk


def test_faults_come_at_their_times_and_what_waits_looks_no_later(disk_of):
    now = [100 * S]
    disk, kernel = disk_of(Faults(crash_at_ns=2 * S, stall_at_ns=1 * S, stall_ns=500 * MS, log_end=9))
    disk.begin(lambda: now[0])
    assert kernel.told == ["write back", "record 9", "fail 0"]
    assert disk.patience_s(5.0) == 1.0
    now[0] += 1 * S
    assert not disk.turn()
    assert kernel.told[3:] == [f"stall {500 * MS}"]
    now[0] += 1 * S
    assert disk.turn()
    assert (kernel.told[4:], disk.lost_ns) == (["cut 0"], 2 * S)
    assert not disk.turn()  # once


def test_a_number_of_writes_is_looked_for_until_the_kernel_says_that_it_came(disk_of):
    now = [0]
    disk, kernel = disk_of(Faults(crash_after=7, error_at=3))
    disk.begin(lambda: now[0])
    assert kernel.told[2:] == ["fail 3", "cut 7"]
    assert disk.patience_s(5.0) == 0.005
    assert not disk.turn()
    kernel.says, now[0] = "cut 7 2 8192", S
    assert disk.turn()
    assert disk.lost_ns == S
    assert disk.patience_s(5.0) == 5.0


def test_more_unconfirmed_than_there_is_room_for_is_an_error(disk_of):
    disk, kernel = disk_of(Faults(crash_at_ns=NEVER))
    disk.begin(lambda: 0)
    kernel.says = "overflowed 7 2 8192"
    disk.lose_power()
    with pytest.raises(WblabError, match="without a flush: lose power earlier"):
        disk.come_back()


def test_an_error_is_of_a_write_or_of_a_read():
    assert [failing(text) for text in ("40", "read:3")] == [(40, 0), (0, 3)]
    for text in ("0", "read:", "read:0", "x", "write:3", ":3", "-1", "read:²"):
        with pytest.raises(InputError, match="give the number of a write, as in 40, or of a read, as in read:3"):
            failing(text)


@pytest.mark.parametrize(
    ("wanted", "state", "said"),
    [
        (Faults(), "on 0 0 0 0", ""),
        (Faults(error_at=40), "on 31 0 0 0", "no write of the disk failed: it had 31 of them"),
        (Faults(error_at=40), "on 40 0 0", ""),
        (Faults(read_error_at=3), "on 9 0 0 2", "no read of the disk failed: it had 2 of them"),
        (Faults(read_error_at=3), "on 0 0 0 3", ""),
    ],
)
def test_an_error_that_did_not_come_is_told(disk_of, wanted, state, said):
    disk, kernel = disk_of(wanted)
    kernel.says = state
    assert disk.missed().partition(", and")[0] == said
