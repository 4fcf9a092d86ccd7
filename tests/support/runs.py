"""Synthesised run directories, written as the guest writes them."""

import json
from array import array
from dataclasses import replace
from pathlib import Path

from wblab.core import npy
from wblab.core.tables import to_table
from wblab.lab.formats import EXPERIMENT
from wblab.lab.specfile import find_spec, read_spec

MS = 1_000_000


def write_run(directory: Path, boundaries_ns: dict[str, list[int]], **record: object) -> Path:
    """Write a run of the base experiment, of these of its loads, that measured these boundaries."""
    spec = read_spec(find_spec("base"))
    spec = replace(spec, load={name: load for name, load in spec.load.items() if name in boundaries_ns})
    directory.mkdir(parents=True, exist_ok=True)
    content = {
        "format": 1,
        "kind": "uml",
        "spec": to_table(spec),
        "kernel": {"release": "7.3.0"},
        "outcome": "succeeded",
        "reason": "",
    }
    (directory / EXPERIMENT).write_text(json.dumps(content | record))
    for name, times in boundaries_ns.items():
        npy.write_int64(directory / f"load.{name}.npy", array("q", times))
        ended = {"name": name, "kind": spec.load[name].kind, "pid": 7, "unit": "ns", "cycles": max(0, len(times) - 1)}
        ended |= {"end": "stopped", "error": ""}
        (directory / f"load.{name}.json").write_text(json.dumps(ended))
    return directory
