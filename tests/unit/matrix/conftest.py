"""Matrices of a small spec, and runs of theirs that nobody made."""

import json
from array import array
from pathlib import Path

import pytest

from wblab.core import npy
from wblab.core.tables import to_table
from wblab.lab.formats import EXPERIMENT
from wblab.matrix.plan import Matrix, expand
from wblab.matrix.store import Store, pack

SPEC = """
memory = "100MiB"
[disk]
size = "64MiB"
write_bps = "1MiB/s"
[load.c1]
kind = "control"
idle = "50ms"
[load.l1]
kind = "load"
file = "l1"
wait = "1s"
size = "8MiB"
block = "1KiB"
"""
MS = 1_000_000
KERNELS = {"": {"build_id": "a" * 64, "release": "7.3.0"}}


@pytest.fixture
def folder(tmp_path):
    """A folder with the spec `small.toml`."""
    (tmp_path / "small.toml").write_text(SPEC)
    return tmp_path


@pytest.fixture
def make_matrix(folder):
    """Return the matrix with these keys."""

    def make(axes=None, **keys) -> Matrix:
        table = {"name": "m", "base": "small.toml", "axes": axes or {}, **keys}
        return expand(table, folder)

    return make


@pytest.fixture
def make_store(make_matrix, tmp_path):
    """Return the store of a new matrix."""
    return lambda axes=None, **keys: Store.create(tmp_path / "exp", make_matrix(axes, **keys), KERNELS)


def pretend_run(directory: Path, spec, stall_ms: int = 0, **record) -> Path:
    """Write a run of a spec, whose control load stalled once."""
    directory.mkdir(parents=True)
    content = {"format": 1, "kind": "uml", "spec": to_table(spec), "outcome": "succeeded", "reason": ""}
    (directory / EXPERIMENT).write_text(json.dumps(content | record))
    times = {"c1": [0, 50 * MS, (100 + stall_ms) * MS], "l1": [0, 1000 * MS, 1010 * MS, 1030 * MS]}
    for name, boundaries in times.items():
        npy.write_int64(directory / f"load.{name}.npy", array("q", boundaries))
        ended = {"name": name, "kind": spec.load[name].kind, "pid": 7, "unit": "ns", "cycles": len(boundaries) - 1}
        (directory / f"load.{name}.json").write_text(json.dumps(ended | {"end": "stopped", "error": ""}))
    return directory


@pytest.fixture
def archive(tmp_path):
    """Return the archive of a pretended run."""
    number = iter(range(1000))

    def make(cell, seed, **keys) -> bytes:
        return pack(pretend_run(tmp_path / f"pretended-{next(number)}", cell.with_seed(seed), **keys))

    return make
