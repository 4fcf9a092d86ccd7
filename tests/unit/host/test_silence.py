import pytest

from wblab.host.channel import Silence


@pytest.fixture
def clock():
    return [100.0]


def over_after_s(silence, clock):
    started = clock[0]
    while not silence.is_over():
        clock[0] += 0.1
    return clock[0] - started


def test_a_guest_with_processor_time_but_no_message_is_silent(clock):
    assert over_after_s(Silence(60.0, lambda: 5.0, lambda: clock[0]), clock) == pytest.approx(60.0, abs=0.2)


def test_a_guest_that_got_a_third_of_a_processor_is_given_more_time(clock):
    silence = Silence(60.0, lambda: clock[0] * 2 / 3, lambda: clock[0])
    assert over_after_s(silence, clock) == pytest.approx(30.0 + 30.0 * 3, abs=0.2)


def test_a_machine_that_is_always_busy_does_not_excuse_a_guest_for_ever(clock):
    silence = Silence(60.0, lambda: clock[0] * 0.99, lambda: clock[0])
    assert over_after_s(silence, clock) == pytest.approx(300.0, abs=0.2)


def test_a_message_restarts_the_time_limit(clock):
    silence = Silence(60.0, lambda: 0.0, lambda: clock[0])
    clock[0] += 59.0
    assert not silence.is_over()
    silence.broken()
    assert over_after_s(silence, clock) == pytest.approx(60.0, abs=0.2)


def test_the_guest_is_not_inspected_while_it_sends_messages(clock):
    def waited_s():
        raise AssertionError

    silence = Silence(60.0, waited_s, lambda: clock[0])
    clock[0] += 29.0
    assert not silence.is_over()
