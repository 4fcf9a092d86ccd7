import re
from itertools import combinations
from pathlib import Path
from typing import get_args

import pytest

import wblab
from wblab.core.streams import Stream, phase_stream, stream

NAMES = get_args(Stream)
LOADS = ["c1", "w1", "mw1", "l1", *NAMES]


@pytest.mark.parametrize("seed", [0, 1, 2**63 - 1])
def test_streams_differ(seed):
    drawn = [stream(seed, name).getrandbits(128) for name in NAMES]
    drawn += [phase_stream(seed, load).getrandbits(128) for load in LOADS]
    assert all(one != other for one, other in combinations(drawn, 2))


def test_a_seed_gives_fixed_numbers_on_every_machine():
    """Runs must be repeatable elsewhere, and by later versions of the lab."""
    assert stream(1, "kernel").getrandbits(64) == 2538193796237140533
    assert stream(1, "filesystem").getrandbits(128) == 302616515668116013455927634827588968391
    assert phase_stream(1, "mw1").randrange(50_000_000) == 49_430_902


def test_a_stream_always_starts_at_its_beginning():
    assert stream(1, "kernel").random() == stream(1, "kernel").random() != stream(2, "kernel").random()


def test_all_randomness_comes_from_streams_or_arguments():
    """Other random numbers have no seed, such as those of names that must not be guessed."""
    own = Path(wblab.__file__).parent
    makes = re.compile(r"\b(Random|default_rng|SeedSequence|RandomState|seed)\(|\bimport random\b")
    found = {str(path.relative_to(own)) for path in own.rglob("*.py") if makes.search(path.read_text())}
    assert found == {"core/streams.py", "analysis/statistics/intervals.py"}
