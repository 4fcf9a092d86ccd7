import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wblab.core.errors import WblabError
from wblab.core.status import Message
from wblab.host.channel import Channel

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
