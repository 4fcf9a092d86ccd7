"""Matrices of a small spec, and synthetic runs of them."""

from pathlib import Path

import pytest
from support.runs import MS, S, write_run_of
from support.specs import TWO_LOADS

from wblab.study.designs.matrix.factorial import expand
from wblab.study.plan import Plan
from wblab.study.store import Store, pack

KERNELS = {"": {"build_id": "a" * 64, "release": "7.3.0"}}


@pytest.fixture
def folder(tmp_path):
    """Return a folder with the spec `small.toml`."""
    (tmp_path / "small.toml").write_text(TWO_LOADS)
    return tmp_path


@pytest.fixture
def make_matrix(folder):
    """Return a function that expands a matrix with these keys."""

    def make(axes=None, **keys) -> Plan:
        table = {"name": "m", "base": "small.toml", "axes": axes or {}, **keys}
        return expand(table, folder)

    return make


@pytest.fixture
def make_store(make_matrix, tmp_path):
    """Return a function that makes the store of a new matrix."""
    return lambda axes=None, **keys: Store.create(tmp_path / "exp", make_matrix(axes, **keys), KERNELS)


def pretend_run(directory: Path, spec, stall_ms: int = 0, **record) -> Path:
    """Write a synthetic run of a spec, in which the control load stalled once."""
    times = {"c1": [0, 50 * MS, (100 + stall_ms) * MS], "l1": [0, S, 1010 * MS, 1030 * MS]}
    return write_run_of(spec, directory, times, **record)


@pytest.fixture
def archive(tmp_path):
    """Return a function that packs a synthetic run into an archive."""
    number = iter(range(1000))

    def make(cell, seed, **keys) -> bytes:
        return pack(pretend_run(tmp_path / f"pretended-{next(number)}", cell.with_seed(seed), **keys))

    return make


@pytest.fixture
def pretended():
    """Return a function that writes a synthetic run into a directory."""
    return pretend_run
