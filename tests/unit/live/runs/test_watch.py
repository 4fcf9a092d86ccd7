from wblab.core.cycles import Stamps
from wblab.core.loads import Command, Control, MultiWrite, Write
from wblab.live.runs.startedloads import StartedLoad
from wblab.live.runs.watch import Pending, Throughput, Watch, WatchedPause, summary
from wblab.machine.storage import Traffic

MS = 1_000_000
S = 1000 * MS


def running(name, load):
    return StartedLoad(name, load, 0, Stamps(100), memoryview(bytes(16)).cast("q"))


def note(item, *times_ms):
    for time_ms in times_ms:
        item.stamps.append(time_ms * MS)


def test_pauses_over_the_threshold_are_found_once_without_idle_time():
    w1 = running("w1", Write(file="w1", idle=50 * MS))
    watch = Watch([w1], 200 * MS)
    assert watch.look() == []
    note(w1, 0, 50, 350)
    assert watch.look() == [WatchedPause("w1", 50 * MS, 300 * MS)]
    assert watch.look() == []
    note(w1, 400, 700)
    assert watch.look() == [WatchedPause("w1", 400 * MS, 650 * MS)]
    assert watch.longest == WatchedPause("w1", 50 * MS, 300 * MS)


def test_a_lasting_pause_is_known():
    mw1 = running("mw1", MultiWrite(file="mw1", idle=100 * MS))
    watch = Watch([mw1], 200 * MS)
    assert not watch.paused(10 * S)  # it has not begun
    note(mw1, 1000)
    assert not watch.paused(1300 * MS)
    assert watch.paused(1301 * MS)
    note(mw1, 2000)
    watch.look()
    assert not watch.paused(2100 * MS)


def test_the_oldest_unreported_pause_is_known():
    w1, mw1 = running("w1", Write(file="w1", idle=50 * MS)), running("mw1", MultiWrite(file="mw1", idle=100 * MS))
    watch = Watch([w1, mw1], 200 * MS)
    assert watch.oldest_ns(7) == 7  # none has begun
    note(w1, 1000, 1050)
    note(mw1, 400)
    watch.look()
    assert watch.oldest_ns(2000 * MS) == 400 * MS
    note(mw1, 3000, 3100)
    assert watch.oldest_ns(4000 * MS) == 400 * MS  # it has ended, but is not yet reported
    watch.look()
    assert watch.oldest_ns(4000 * MS) == 1050 * MS


def test_control_loads_and_commands_do_not_count():
    c1, command = running("c1", Control(idle=50 * MS)), running("x", Command(argv=("x",), wait=0))
    note(c1, 0, 5000)
    note(command, 0, 0, 5000)
    watch = Watch([c1, command], 200 * MS)
    assert watch.look() == []
    assert not watch.paused(20 * S)


def test_pauses_near_each_other_are_saved_together():
    pending = Pending(2 * S)
    one, other = WatchedPause("w1", 10 * S, 11 * S), WatchedPause("mw1", 12 * S, 13 * S)
    pending.add([one])
    assert pending.due(int(12.9 * S), paused=False) == []
    pending.add([other])
    assert pending.due(14 * S, paused=False) == []
    assert pending.due(15 * S, paused=True) == []
    assert pending.due(15 * S, paused=False) == [one, other]
    assert pending.due(30 * S, paused=False) == []


def test_endless_pauses_are_saved_before_the_buffer_overwrites_them():
    pending = Pending(2 * S)
    pending.add([WatchedPause("w1", 10 * S, 11 * S)])
    assert pending.due(21 * S, paused=True) == []
    assert len(pending.due(22 * S, paused=True)) == 1


def test_remaining_pauses_are_saved_at_the_end():
    pending = Pending(2 * S)
    pending.add([WatchedPause("w1", 10 * S, 11 * S)])
    assert len(pending.rest()) == 1
    assert pending.rest() == []


def test_the_buffer_keeps_what_waits_to_be_saved():
    pending = Pending(2 * S)
    assert pending.oldest_ns(20 * S) == 20 * S
    pending.add([WatchedPause("w1", 12 * S, 13 * S), WatchedPause("mw1", 10 * S, 14 * S)])
    assert pending.oldest_ns(20 * S) == 10 * S
    assert pending.oldest_ns(9 * S) == 9 * S


def test_rates_are_means_over_the_run_over_busy_time_and_of_the_best_second():
    samples = [(0, Traffic(0, 0, 0)), (S, Traffic(5, 10_000, S // 2)), (4 * S, Traffic(5, 16_000, S))]
    measured = summary(samples)
    assert measured is not None
    assert (measured.seconds, measured.busy_s) == (4.0, 1.0)
    assert (measured.read_bytes, measured.written_bytes) == (5, 16_000)
    assert measured.written_per_s == 4000
    assert measured.written_per_busy_s == 16_000
    assert measured.most_written_per_s == 10_000


def test_the_best_rate_is_not_one_request_that_ends_in_a_second():
    """A disk of 1 MiB/s ends a request of 4 MiB every four seconds."""
    samples = [(at * S, Traffic(0, at // 4 * (4 << 20), at * S)) for at in range(65)]
    measured = summary(samples, 4 << 20)
    assert measured is not None
    assert 0.9 * (1 << 20) < measured.most_written_per_s <= 1 << 20


def test_an_idle_device_and_too_few_samples():
    assert summary([]) is None
    assert summary([(0, Traffic(0, 0, 0))]) is None
    measured = summary([(0, Traffic(0, 0, 0)), (S, Traffic(0, 0, 0))])
    assert measured is not None
    assert measured.written_per_busy_s == 0


def test_without_a_device_there_is_a_note():
    throughput = Throughput(None)
    throughput.sample(0)
    assert throughput.to_json() is None
    assert throughput.notes == ["no throughput: the directory is not on a block device"]
