"""The streams of random numbers that a run's seed decides, each with its own name.

Two users of one name would draw the same numbers, and their decisions would be correlated. Comparisons resample with a
seed of their own: see wblab/analysis/statistics/intervals.py.
"""

from random import Random
from typing import Literal, get_args

# kernel: the guest kernel's entropy. filesystem: its UUID and the hash seed of its directories. imprint: other random
# UUIDs and times of a mkfs. The names seed the streams: another name gives other numbers.
Stream = Literal["kernel", "filesystem", "imprint"]

NO_SEED = 0  # for loads on a live machine


def stream(seed: int, name: Stream) -> Random:
    """Return the stream with this name, from its start."""
    return Random(f"{seed} {name}")


def constant_stream(name: str) -> Random:
    """Return a stream that does not depend on the seed: it is the same in all runs."""
    return Random(f"constant {name}")


def draw_stream(seed: int, load: str) -> Random:
    """Return the stream that a load draws from in its cycles. The names of loads have no spaces."""
    return Random(f"{seed} draws {load}")


def phase_stream(seed: int, load: str) -> Random:
    """Return the stream of a load's phase. A load with the name of another stream still has its own."""
    return Random(f"{seed} load {load}" if load in get_args(Stream) else f"{seed} {load}")
