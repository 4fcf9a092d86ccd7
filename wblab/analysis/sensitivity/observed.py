"""The observations of an exploration: each run's levels and measured responses."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]
Codes = NDArray[np.int64]


@dataclass(frozen=True)
class Factor:
    """A factor that was varied. levels: their labels in order; for a range, the labels of its bins ("1–2 MiB").

    ordered: its levels lie on a scale. is_dummy: it has no effect on a run, and so shows the effect of chance.
    """

    name: str
    levels: tuple[str, ...]
    ordered: bool
    is_dummy: bool = False


@dataclass(frozen=True, eq=False)
class Response:
    """One measured quantity. unit: s, bytes, bytes/s, or empty. values: by row; NaN if the run failed.

    log: always show its logarithm. above: limits by name; the analysis counts the rows above each.
    """

    name: str
    unit: str
    values: Values
    more_is_better: bool = False
    log: bool = False
    above: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Observed:
    """The rows of an exploration, each one run.

    u: (rows, factors), in [0, 1), the sample from which the levels were drawn. codes: (rows, factors), the index of the
    row's level. responses: by name. Raises ValueError if the shapes do not match.
    """

    factors: tuple[Factor, ...]
    u: Values
    codes: Codes
    responses: Mapping[str, Response]

    def __post_init__(self) -> None:
        shape = self.codes.shape
        if len(shape) != 2 or shape[1] != len(self.factors) or self.u.shape != shape:
            raise ValueError(f"{len(self.factors)} factors, u of {self.u.shape} and codes of {shape} do not fit")
        if not np.issubdtype(self.codes.dtype, np.integer):
            raise ValueError("codes must be integers: they are indices of levels")
        if len({factor.name for factor in self.factors}) != len(self.factors):
            raise ValueError("two factors have the same name")
        if ((self.u < 0) | (self.u >= 1)).any() or np.isnan(self.u).any():
            raise ValueError("u is not in [0, 1)")
        for factor, column in zip(self.factors, self.codes.T, strict=True):
            if len(column) and not 0 <= column.min() <= column.max() < len(factor.levels):
                raise ValueError(f"{factor.name}: a code is outside its {len(factor.levels)} levels")
        for name, response in self.responses.items():
            if response.values.shape != shape[:1]:
                raise ValueError(f"{name}: {response.values.shape} values of {shape[0]} rows")
