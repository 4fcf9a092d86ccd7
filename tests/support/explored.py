"""Explorations of responses with a known answer: designs, and what each factor accounts for."""

import numpy as np
from scipy.stats import qmc

from wblab.analysis.sensitivity.observed import Factor, Observed, Response


def design(rows, factors, seed=1):
    """Return the factors (name: levels, ordered), u, and codes of a Latin hypercube; the last factor is the dummy."""
    u = qmc.LatinHypercube(len(factors), rng=seed).random(rows)
    made = tuple(
        Factor(name, tuple(f"{name}{level}" for level in range(count)), ordered, name == "dummy")
        for name, (count, ordered) in factors.items()
    )
    return made, u, (u * [count for count, _ in factors.values()]).astype(np.int64)


def level_effects(count, variance, seed=0):
    """Return effects of `count` levels with mean 0 and this variance, in random order."""
    effects = np.random.default_rng(seed).normal(size=count)
    effects -= effects.mean()
    return effects * np.sqrt(variance / np.mean(effects**2))


def observed(made, responses):
    """Return the observations: responses by name, as values or as a Response."""
    factors, u, codes = made
    whole = {
        name: of if isinstance(of, Response) else Response(name, "s", np.asarray(of, float))
        for name, of in responses.items()
    }
    return Observed(factors, u, codes, whole)


def ishigami(u):
    """Return the function of Ishigami and Homma (1990), with a = 7 and b = 0.1, of u in [0, 1)."""
    x = np.pi * (2 * u - 1)
    return np.sin(x[..., 0]) + 7 * np.sin(x[..., 1]) ** 2 + 0.1 * x[..., 2] ** 4 * np.sin(x[..., 0])


def ishigami_shares(bins, of_pairs):
    """Return what bins of x1, x2 and x3, and cells of (x1, x3) beyond both, account for, with this many bins each.

    Without binning the shares are 0.314, 0.442, 0 and 0.244.
    """
    grid = (np.arange(960) + 0.5) / 960
    x = np.pi * (2 * grid - 1)
    sine, square, fourth = np.sin(x), 7 * np.sin(x) ** 2, 0.1 * x**4

    def of_bins(values, count):
        return np.var(values.reshape(count, -1).mean(axis=1))

    whole = 7**2 / 8 + 0.1 * np.pi**4 / 5 + 0.1**2 * np.pi**8 / 18 + 0.5
    first = of_bins(sine, bins) * (1 + fourth.mean()) ** 2
    both = of_bins(sine, of_pairs) * of_bins(fourth, of_pairs)
    return first / whole, of_bins(square, bins) / whole, 0.0, both / whole
