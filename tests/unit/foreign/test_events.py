"""What a trace as text says of requests of disks and of dirty memory against the limits."""

import pytest
from support import sleeptexts
from support.eventtexts import FORMS, counts, line, request

from wblab.core.errors import InputError
from wblab.foreign.door import explained
from wblab.foreign.eventtext import read_events


def read(*parts):
    return read_events("\n".join(row for part in parts for row in part))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("priority", ["", " none,0,0"])  # since Linux 6.11
def test_the_longest_request_of_each_disk_is_known_with_who_issued_it(form, priority):
    found = read(
        request(1, 10, 500, form, comm="kworker/u8:1", priority=priority),
        request(2, 3, 9000, form, priority=priority),
        request(2, 4, 500, form, disk="8,0", how="RA", comm="cat", priority=priority),
    )
    slow, fast = found.disks["8:16"], found.disks["8:0"]
    assert (slow.requests, slow.written_bytes, slow.longest.took_s) == (2, 1 << 20, 9)
    assert (slow.longest.comm, slow.longest.is_write, slow.longest.size_bytes) == ("kworker/u8:1", True, 512 << 10)
    assert (fast.written_bytes, fast.longest.took_s, fast.longest.is_write) == (0, 2, False)


def test_a_request_that_is_not_over_is_said_to_last_longer(tmp_path):
    file = tmp_path / "t.txt"
    file.write_text("\n".join([*request(1, None, 500), *request(2, 7, 9000)]))
    assert "was not over after 6 s" in str(explained(str(file)).headline)
    alone = read(request(1, 2, 500)[1:])  # its begin is not in the text
    assert alone.disks["8:16"].longest is None


def test_the_most_that_was_dirty_is_compared_with_where_writers_are_slowed(tmp_path):
    file = tmp_path / "t.txt"
    for dirty, words in ((19_400, "the machine's limit slows from"), (19_600, "the kernel slows all who write")):
        file.write_text("\n".join([*counts(1, 100), *counts(2, dirty), *counts(3, 200)]))
        assert words in str(explained(str(file)).headline)
    found = read(counts(1, (1 << 64) - 2), counts(2, 10))
    assert (found.impossible, found.dirty.dirty_bytes) == (1, 40960)


def test_a_disk_s_rate_is_what_the_kernel_reckons():
    said = "bdi 8:16: write_bw=4096 awrite_bw=4096 dirty_rate=1 dirty_ratelimit=1 task_ratelimit=1"
    assert read([line(1, "bdi_dirty_ratelimit", said)]).disks["8:16"].rate_bps == 4 << 20


def test_they_stand_below_who_slept(tmp_path):
    file = tmp_path / "t.txt"
    switches = (1.0, ("dd", 77), "D", ("swapper/0", 0)), (5.0, ("swapper/0", 0), "R", ("dd", 77))
    file.write_text(sleeptexts.text("ftrace", *switches) + "\n".join(request(1, 4, 500)))
    found = explained(str(file))
    assert found.headline.startswith("dd slept")
    assert found.data["events"]["disks"]["8:16"]["longest"]["took_s"] == 3


def test_events_that_are_not_whole_say_nothing(tmp_path):
    file = tmp_path / "t.txt"
    file.write_text(f"{line(1, 'block_rq_issue', '8,16 W 524288 () 12')}\n{line(1, 'global_dirty_state', 'dirty=')}\n")
    assert read_events(file.read_text()) is None
    with pytest.raises(InputError, match="a trace as text"):
        explained(str(file))
