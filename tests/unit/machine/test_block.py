import pytest

from wblab.machine.block import scheduler, schedulers, set_scheduler
from wblab.machine.undo import Undo


@pytest.fixture
def disk(tmp_path):
    """Return a copy of a disk's directory below /sys, which shows these schedulers."""

    def make(shown):
        (tmp_path / "queue").mkdir()
        (tmp_path / "queue" / "scheduler").write_text(f"{shown}\n")
        return tmp_path

    return make


@pytest.mark.parametrize(
    ("shown", "known"),
    [
        ("none mq-deadline [bfq]", ["bfq", "none", "mq-deadline"]),
        ("[none] mq-deadline", ["none", "mq-deadline"]),
        ("none", ["none"]),  # of a device without a queue
    ],
)
def test_the_scheduler_in_use_is_the_one_in_brackets(disk, shown, known):
    place = disk(shown)
    assert (schedulers(place), scheduler(place)) == (known, known[0])


def test_a_scheduler_is_put_back_at_the_end(disk):
    file = (place := disk("none [bfq]")) / "queue" / "scheduler"
    with Undo() as undo:
        set_scheduler(place, "none", undo)
        assert file.read_text() == "none"
    assert (file.read_text(), undo.failures) == ("bfq", ())
