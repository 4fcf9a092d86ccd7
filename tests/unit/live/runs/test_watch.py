from wblab.core.cycles import Stamps
from wblab.core.loads import Command, Control, MultiWrite, Write
from wblab.live.runs.loads import Running
from wblab.live.runs.watch import Pause, Pending, Watch

MS = 1_000_000
S = 1000 * MS


def running(name, load):
    return Running(name, load, 0, Stamps(100), memoryview(bytes(16)).cast("q"))


def note(item, *times_ms):
    for time_ms in times_ms:
        item.stamps.append(time_ms * MS)


def test_pauses_over_the_threshold_are_found_once_without_idle_time():
    w1 = running("w1", Write(file="w1", idle=50 * MS))
    watch = Watch([w1], 200 * MS)
    assert watch.look() == []
    note(w1, 0, 50, 350)
    assert watch.look() == [Pause("w1", 50 * MS, 300 * MS)]
    assert watch.look() == []
    note(w1, 400, 700)
    assert watch.look() == [Pause("w1", 400 * MS, 650 * MS)]
    assert watch.longest == Pause("w1", 50 * MS, 300 * MS)


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
    one, other = Pause("w1", 10 * S, 11 * S), Pause("mw1", 12 * S, 13 * S)
    pending.add([one])
    assert pending.due(int(12.9 * S), paused=False) == []
    pending.add([other])
    assert pending.due(14 * S, paused=False) == []
    assert pending.due(15 * S, paused=True) == []
    assert pending.due(15 * S, paused=False) == [one, other]
    assert pending.due(30 * S, paused=False) == []


def test_endless_pauses_are_saved_before_the_buffer_overwrites_them():
    pending = Pending(2 * S)
    pending.add([Pause("w1", 10 * S, 11 * S)])
    assert pending.due(21 * S, paused=True) == []
    assert len(pending.due(22 * S, paused=True)) == 1


def test_remaining_pauses_are_saved_at_the_end():
    pending = Pending(2 * S)
    pending.add([Pause("w1", 10 * S, 11 * S)])
    assert len(pending.rest()) == 1
    assert pending.rest() == []


def test_the_buffer_keeps_what_waits_to_be_saved():
    pending = Pending(2 * S)
    assert pending.oldest_ns(20 * S) == 20 * S
    pending.add([Pause("w1", 12 * S, 13 * S), Pause("mw1", 10 * S, 14 * S)])
    assert pending.oldest_ns(20 * S) == 10 * S
    assert pending.oldest_ns(9 * S) == 9 * S
