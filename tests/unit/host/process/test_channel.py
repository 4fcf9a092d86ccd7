import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wblab.core.errors import WblabError
from wblab.core.status import Message
from wblab.host.process.channel import Channel, Silence

MESSAGES = [Message("mounts", 1), Message("loads", 2, {"start_ns": 7}), Message("power off", 3)]
STREAM = b"".join(message.line() for message in MESSAGES)


@given(st.lists(st.integers(0, len(STREAM)), max_size=8))
def test_messages_come_in_any_pieces(cuts):
    channel = Channel()
    edges = [0, *sorted(cuts), len(STREAM)]
    pieces = [STREAM[start:end] for start, end in itertools.pairwise(edges)]
    assert [message for piece in pieces for message in channel.feed(piece)] == MESSAGES
    assert channel.said_bytes == len(STREAM)


@given(st.binary(max_size=200))
def test_invalid_data_give_one_error(noise):
    channel = Channel()
    with pytest.raises(WblabError, match=r"^the guest sent an invalid message: b['\"][ -~]*$"):
        list(channel.feed(noise + b"\n"))


def test_an_endless_line_is_an_error():
    channel = Channel()
    for _ in range(16):
        assert list(channel.feed(b"x" * 4096)) == []
    with pytest.raises(WblabError, match="a line of more than 65536 bytes"):
        list(channel.feed(b"x"))


def test_a_long_line_is_read_byte_by_byte_in_linear_time():
    """Each byte is examined once: earlier data are not split or copied again."""
    channel = Channel()
    for _ in range(60_000):
        assert list(channel.feed(b"x")) == []
    assert channel.said_bytes == 60_000


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
