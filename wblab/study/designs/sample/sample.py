"""Sample a design: Latin hypercubes, a point in each row, a factor in each column, and a dummy in the last one."""

import numpy as np
from numpy.typing import NDArray
from scipy.stats import qmc

from wblab.core.errors import InputError
from wblab.study.designs.sample.design import Head

Points = NDArray[np.float64]


def sample(head: Head, factors: int) -> Points:
    """Return points of shape (runs, factors + 1), each 0 <= u < 1. Raises InputError if there is no such sample.

    Each column has one value in each of `runs` strata (McKay and others 1979). With strength 2, each pair of columns
    also has one point in each of sqrt(runs) × sqrt(runs) strata (Tang 1993).
    """
    columns = factors + 1
    if head.strength == 2:
        root = round(head.runs**0.5)
        if root * root != head.runs or any(root % divisor == 0 for divisor in range(2, root)):
            raise InputError(f"runs: strength = 2 needs the square of a prime, not {head.runs}: {_near(head.runs)}")
        if columns > root + 1:
            raise InputError(
                f"runs: with strength = 2, {head.runs} runs balance at most {root} factors, not {factors}: raise runs"
            )
    points: Points = qmc.LatinHypercube(columns, strength=head.strength, rng=head.seed).random(head.runs)
    return np.asarray(np.minimum(points, np.nextafter(1.0, 0.0)), np.float64)


def _near(runs: int) -> str:
    """Suggest the nearest squares of primes below and above a number."""
    primes = [n for n in range(2, 400) if all(n % divisor for divisor in range(2, n))]
    below = [prime**2 for prime in primes if prime**2 < runs]
    above = [prime**2 for prime in primes if prime**2 > runs]
    return f"write {' or '.join(map(str, [*below[-1:], *above[:1]]))}"
