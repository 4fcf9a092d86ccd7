"""Lines from a guest or an agent: each is a message, a sample, or a ValueError."""

import json
from random import Random

import pytest
from support.spoil import TOKENS, places, some_value

from wblab.core.status import Message
from wblab.live.monitor import samples

MESSAGE = json.dumps({"phase": "loads", "guest_ns": 10**9, "detail": {"start_ns": 10**8, "reason": "x"}}).encode()
BATCH = samples.line(
    samples.Batch(5, (samples.CacheState(1, *map(samples.Bytes, (2, 3, 4, 5))),), (samples.Throttled(1, "l1", 2),))
)


KINDS = [(Message.parse, MESSAGE), (samples.parse, BATCH)]


def hostile(line: bytes, random: Random) -> bytes:
    """Return a line with other values, other bytes, or a piece of it."""
    choice = random.random()
    if choice < 0.6:
        value = json.loads(line)
        container, key = random.choice(places(value))
        container[key] = some_value(random)
        return json.dumps(value).encode()
    at = random.randrange(len(line))
    if choice < 0.8:
        return line[:at] + random.choice(TOKENS) + line[at:]
    return line[at:] if choice < 0.9 else line[:at]


def read_all(parse, line: bytes, seeds: range) -> None:
    assert parse(line)
    for seed in seeds:
        said = hostile(line, Random(seed))
        try:
            parse(said)
        except ValueError:
            continue
        except Exception as error:
            raise AssertionError(f"seed {seed}: {type(error).__name__} for {said[:200]!r}") from error


@pytest.mark.parametrize(("parse", "line"), KINDS, ids=["message", "sample"])
def test_hostile_lines(parse, line):
    read_all(parse, line, range(1000))


@pytest.mark.soak
@pytest.mark.parametrize(("parse", "line"), KINDS, ids=["message", "sample"])
def test_many_hostile_lines(parse, line):
    read_all(parse, line, range(10_000, 20_000))
