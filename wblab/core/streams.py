"""The streams of random numbers that a run's seed decides, each under a name of its own.

Two places that asked for one name would draw the same numbers, and what they decide would hang together. Intervals of
comparisons are resampled by a seed of their own: see wblab/analysis/statistics/intervals.py.
"""

from random import Random
from typing import Literal, get_args

# kernel: what the guest's kernel takes for chance. filesystem: its UUID and the hash seed of its directories. imprint:
# what a mkfs leaves to chance.
Stream = Literal["kernel", "filesystem", "imprint"]

NO_SEED = 0  # of loads on a live machine


def stream(seed: int, name: Stream) -> Random:
    """Return the stream of this name, from its begin."""
    return Random(f"{seed} {name}")


def constant_stream(name: str) -> Random:
    """Return a stream that no seed decides: what it shuffles is the same in all runs."""
    return Random(f"constant {name}")


def draw_stream(seed: int, load: str) -> Random:
    """Return the stream of what a load draws in its cycles. No load's name has a space in it."""
    return Random(f"{seed} draws {load}")


def phase_stream(seed: int, load: str) -> Random:
    """Return the stream of a load's phase. A load may be called as another stream is, and has its own all the same."""
    return Random(f"{seed} load {load}" if load in get_args(Stream) else f"{seed} {load}")
