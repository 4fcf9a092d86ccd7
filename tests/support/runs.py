"""Run directories written as the guest and the host write them."""

import json
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from wblab.core import npy
from wblab.core.spec import ClockMode, Spec
from wblab.core.tables import to_table
from wblab.lab.formats import EXPERIMENT
from wblab.lab.results import SPECS
from wblab.lab.specfile import LiveSpec, read_spec

MS = 1_000_000
S = 1000 * MS


def write_run(
    directory: Path, boundaries_ns: Mapping[str, Sequence[int]], clock: ClockMode = "virtual", **record: object
) -> Path:
    """Write a run of the base experiment in which these loads measured these boundaries."""
    spec = read_spec(SPECS.find("base"))
    spec = replace(spec, clock=replace(spec.clock, mode=clock))
    spec = replace(spec, load={name: load for name, load in spec.load.items() if name in boundaries_ns})
    return write_run_of(spec, directory, boundaries_ns, **record)


def write_run_of(
    spec: Spec | LiveSpec, directory: Path, boundaries_ns: Mapping[str, Sequence[int]], **record: object
) -> Path:
    """Write a run of a spec that measured these boundaries; `record` overrides fields of its record."""
    directory.mkdir(parents=True, exist_ok=True)
    content = {"format": 1, "kind": "uml", "spec": to_table(spec), "seed": 1, "left_out": [], "guest": {}, "host": {}}
    content |= {"kernel": {"release": "7.3.0", "build_id": "a" * 64}, "outcome": "succeeded", "reason": ""}
    (directory / EXPERIMENT).write_text(json.dumps(content | record))
    for name, times in boundaries_ns.items():
        npy.write_int64(directory / f"load.{name}.npy", array("q", times))
        said = {"name": name, "kind": spec.load[name].kind, "parameters": {}, "pid": 7, "unit": "ns"}
        ended = {"cycles": max(0, len(times) - 1), "end": "stopped", "error": "", "status": 0}
        (directory / f"load.{name}.json").write_text(json.dumps(said | ended))
    return directory
