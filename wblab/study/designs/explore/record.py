"""The directory of an exploration: a study whose cells are the rows, and the record of the design.

exp/<date>_<name>/
design.json    format; factors with the labels of their levels; responses; the sample, a row of numbers for each cell
study.json, runs/, rows/    as in any study: see wblab.study.store
"""

import json
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from wblab.analysis.runs.metrics import MORE_IS_BETTER
from wblab.analysis.sensitivity.observed import Factor, Observed, Response
from wblab.core.errors import InputError
from wblab.core.spec import Spec
from wblab.lab.formats import DESIGN, EXPLORATION
from wblab.study.designs.explore.design import DUMMY, SampleDesign
from wblab.study.designs.explore.factors import BINS
from wblab.study.designs.explore.points import Points
from wblab.study.designs.explore.responses import AskedResponse, read_responses, values


@dataclass(frozen=True)
class SampleRecord:
    """The content of design.json. points: float64 of shape (rows, factors); the dummy is the last factor."""

    factors: tuple[Factor, ...]
    responses: tuple[AskedResponse, ...]
    points: Points


def record_of(design: SampleDesign, points: Points) -> SampleRecord:
    """Return the record of a design and its sample."""
    factors = [Factor(factor.name, factor.labels, factor.ordered) for factor in design.factors]
    dummy = Factor(DUMMY, tuple(str(number) for number in range(1, BINS + 1)), ordered=False, is_dummy=True)
    return SampleRecord((*factors, dummy), design.responses, points)


def encode(record: SampleRecord) -> bytes:
    """Return the bytes of design.json."""
    content = EXPLORATION.head() | {
        "factors": [asdict(factor) for factor in record.factors],
        "responses": {response.name: response.to_json() for response in record.responses},
        "sample": _encoded(record.points),
    }
    return json.dumps(content, ensure_ascii=False).encode() + b"\n"


def read_record(directory: Path) -> SampleRecord:
    """Read a directory's design.json. Raises InputError if it is missing or damaged."""
    path = directory / DESIGN
    content = EXPLORATION.read(path)
    try:
        factors = tuple(map(_factor, content["factors"]))
        responses = read_responses({name: _without_name(given) for name, given in content["responses"].items()})
        points = _decoded(content["sample"])
        if points.ndim != 2 or points.shape[1] != len(factors) or not ((points >= 0) & (points < 1)).all():
            raise ValueError("its sample does not match its factors")
        return SampleRecord(factors, responses, points)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise InputError(f"{path} is damaged: {type(error).__name__}: {error}") from None


def observed(directory: Path, spec: Spec) -> Observed:
    """Read what was observed in an exploration's runs from its table. spec: any row's. Raises InputError."""
    from wblab.analysis.groups.observations import read_table

    record, table = read_record(directory), read_table(directory)
    digits = len(str(len(record.points) - 1))
    cells = [f"{number:0{digits}}" for number in range(len(record.points))]
    measured = {item.name: _measured(item, spec, table, cells) for item in record.responses}
    levels = np.array([len(factor.levels) for factor in record.factors])
    return Observed(record.factors, record.points, (record.points * levels).astype(np.int64), measured)


def _measured(response: AskedResponse, spec: Spec, table: Any, cells: Sequence[str]) -> Response:
    found = values(response, spec, table, cells)
    better = response.metric in MORE_IS_BETTER
    return Response(response.name, response.unit, found, more_is_better=better, log=True, above=response.limits())


def _encoded(points: Points) -> dict[str, Any]:
    """Return points as JSON, exact and short: little-endian float64 in Base64, row by row."""
    return {"shape": list(points.shape), "float64": b64encode(points.astype("<f8").tobytes()).decode()}


def _decoded(sample: Any) -> Points:
    """Return the points in a record. Raises KeyError, TypeError, ValueError."""
    points = np.frombuffer(b64decode(sample["float64"], validate=True), "<f8")
    return points.reshape(sample["shape"]).astype(np.float64)


def _factor(given: Mapping[str, Any]) -> Factor:
    levels = tuple(map(str, given["levels"]))
    if not 2 <= len(levels) <= 1000:
        raise ValueError(f"{len(levels)} levels")
    return Factor(str(given["name"]), levels, bool(given["ordered"]), bool(given["is_dummy"]))


def _without_name(given: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in given.items() if key != "name"}
