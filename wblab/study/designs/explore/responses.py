"""The responses of a design: one number per run, from a metric of one load or several.

A response names a metric, its loads (a role, `innocent` or `offender`, or a list), and how to combine several loads:
by the largest, the smallest, the mean or the sum. The response of a row with several seeds is their median.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal

from wblab.core.errors import InputError, nearest
from wblab.core.spec import Spec
from wblab.core.tables import from_table
from wblab.core.units import NS_PER_S, parse_bytes, parse_rate, parse_time

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

Take = Literal["max", "min", "mean", "sum"]
ROLES = ("innocent", "offender")
_Unit = tuple[str, Callable[[str], float]]  # its name, and the parser of texts in it
# By the suffix of the metric's name.
_UNITS: dict[str, _Unit] = {
    "_s": ("s", lambda text: parse_time(text) / NS_PER_S),
    "_bps": ("bytes/s", parse_rate),
    "_bytes": ("bytes", parse_bytes),
    "_hz": ("1/s", float),
}


@dataclass(frozen=True, kw_only=True)
class AskedResponse:
    """One number of a run. of: a role, or the names of loads, separated by commas.

    above: limits as text (1GiB, 500ms); the analysis counts the runs above each.
    """

    name: str
    metric: str
    of: str = "innocent"
    take: Take = "max"
    above: tuple[str, ...] = field(default=())

    @property
    def unit(self) -> str:
        """The unit of the metric; empty if it has none."""
        return self._unit[0]

    def limits(self) -> dict[str, float]:
        """Return the limits of `above` in the metric's unit, by their text. Raises InputError."""
        _, read = self._unit
        try:
            limits = {text: float(read(text)) for text in self.above}
            if not all(map(isfinite, limits.values())):
                raise ValueError("is not finite")
        except ValueError:
            raise InputError(f"responses.{self.name}.above: {list(self.above)!r}: write numbers") from None
        except InputError as error:
            raise InputError(f"responses.{self.name}.above: {error}") from None
        return limits

    @property
    def _unit(self) -> _Unit:
        return next((unit for end, unit in _UNITS.items() if self.metric.endswith(end)), ("", float))

    def loads(self, spec: Spec) -> list[str]:
        """Return the names of the loads that it measures."""
        if self.of in ROLES:
            return [name for name, load in spec.load.items() if load.role == self.of]
        return [name.strip() for name in self.of.split(",")]

    def to_json(self) -> dict[str, Any]:
        """Return it as in a design's record."""
        return asdict(self)


DEFAULT = (
    AskedResponse(name="longest_pause", metric="longest_pause_s"),
    AskedResponse(name="p999", metric="cycle_p999_s"),
    AskedResponse(name="wait_time", metric="wait_time_s"),
    AskedResponse(name="throughput", metric="throughput_bps", of="offender", take="min"),
)


def read_responses(table: object) -> tuple[AskedResponse, ...]:
    """Read the responses in a design's table; return DEFAULT if there are none. Raises InputError."""
    if not isinstance(table, Mapping):
        raise InputError(f"responses must be a table, not {table!r}")
    if not table:
        return DEFAULT
    found = []
    for name, given in table.items():
        if not isinstance(given, Mapping):
            raise InputError(f"responses.{name} must be a table, not {given!r}")
        of = given.get("of", "innocent")
        own = dict(given) | {"name": name, "of": ", ".join(map(str, of)) if isinstance(of, list) else of}
        found.append(from_table(AskedResponse, own, f"responses.{name}"))
    return tuple(found)


def check_responses(responses: Sequence[AskedResponse], spec: Spec, metrics: Sequence[str]) -> None:
    """Raise InputError if a response names a load that is not in the spec, or an unknown metric."""
    for response in responses:
        where = f"responses.{response.name}"
        for load in response.loads(spec):
            if load not in spec.load:
                known = [*ROLES, *spec.load]
                raise InputError(f"{where}.of: no load {load!r}{nearest(load, known)}: {', '.join(known)}")
        if response.metric not in metrics:
            known = list(metrics)
            raise InputError(
                f"{where}.metric: no metric {response.metric!r}{nearest(response.metric, known)}: {', '.join(known)}"
            )
        response.limits()


def values(response: AskedResponse, spec: Spec, table: "pd.DataFrame", cells: Sequence[str]) -> "np.ndarray[Any, Any]":
    """Return the response of each cell, shape (cells,), from a study's table; NaN where no run has it."""
    import numpy as np

    chosen = table[(table["metric"] == response.metric) & table["load"].isin(response.loads(spec))]
    runs = chosen.groupby(["cell", "seed"], observed=True)["value"].agg(response.take)
    rows = runs.groupby("cell", observed=True).median().reindex(list(cells))
    return rows.to_numpy(np.float64)
