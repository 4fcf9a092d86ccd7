import pytest

from wblab.core.errors import WblabError
from wblab.live.mitigate.journal import Journal
from wblab.live.mitigate.settings import ShortQueue, requests_in

MIB = 1 << 20


@pytest.fixture
def place(tmp_path):
    attributes = tmp_path / "sda" / "queue"
    attributes.mkdir(parents=True)
    (attributes / "nr_requests").write_text("256\n")
    (attributes / "max_sectors_kb").write_text("128\n")
    return attributes / "nr_requests"


@pytest.mark.parametrize(
    ("bandwidth", "request_bytes", "requests"),
    [
        (MIB, 128 << 10, 4),  # the lab's device disk
        (100 * MIB, 1280 << 10, 40),  # a hard disk
        (2000 * MIB, 512 << 10, 2000),  # more than its queue has: left alone
        (1000, MIB, 4),
    ],
)
def test_a_queue_holds_half_a_second_of_requests(bandwidth, request_bytes, requests):
    assert requests_in(0.5, bandwidth, request_bytes) == requests


def test_the_queue_is_shortened_and_restored(place, tmp_path):
    journal = Journal(tmp_path / "journal.json")
    short = ShortQueue(journal, 0.5, blocks=tmp_path)
    short.check("sda")
    short.start("sda", 10 * MIB)
    assert place.read_text() == "40"
    short.start("sda", 2 * MIB)  # the disk turned out to be slower
    assert place.read_text() == "8"
    assert [(change.back, change.new) for change in journal.changes] == [("256", "8")]
    assert Journal(tmp_path / "journal.json").undo(journal.changes) == []
    assert place.read_text() == "256"


def test_a_short_queue_is_left_alone(place, tmp_path):
    journal = Journal(tmp_path / "journal.json")
    ShortQueue(journal, 0.5, blocks=tmp_path).start("sda", 1000 * MIB)
    assert (place.read_text(), journal.changes) == ("256\n", [])


def test_the_queue_is_restored_if_the_disk_turns_out_to_be_fast(place, tmp_path):
    journal = Journal(tmp_path / "journal.json")
    short = ShortQueue(journal, 0.5, blocks=tmp_path)
    short.start("sda", 10 * MIB)
    short.start("sda", 1000 * MIB)
    assert (place.read_text(), journal.changes) == ("256", [])


def test_a_disk_without_a_queue_is_refused(place, tmp_path):
    with pytest.raises(WblabError, match="no request queue of its own"):
        ShortQueue(Journal(tmp_path / "journal.json"), 0.5, blocks=tmp_path).check("sdb")
