"""How many runs of a matrix are made in an hour, and how that grows with the processors they get."""

import time
from dataclasses import replace
from pathlib import Path

import pytest

from wblab.host.machine import processors
from wblab.kernels import built_kernel
from wblab.lab.progress import silent
from wblab.matrix.cluster import local
from wblab.matrix.plan import find_matrix, read_matrix
from wblab.matrix.run import Runner
from wblab.matrix.store import Store

pytestmark = pytest.mark.bench


def runs_per_hour(workers: int, results: Path) -> tuple[float, float]:
    """Return how many runs of the mitigation matrix an hour has, once workers are up, and what their start takes."""
    matrix = read_matrix(find_matrix("mitigation"), seeds=range(1, workers + 1))
    store = Store.create(results, replace(matrix, name=f"workers{workers}"), {"": built_kernel("").describe()})
    begun = time.perf_counter()
    with local(workers, store.path / ".work") as client:
        started = time.perf_counter()
        tally = Runner(store, client, silent).run()
        ended = time.perf_counter()
    assert not tally.failures
    return tally.done / (ended - started) * 3600, started - begun


def test_runs_per_hour(tmp_path):
    counts = [count for count in (1, 2, 4, 8, 16, 32, 64) if count <= processors()]
    figures = {count: runs_per_hour(count, tmp_path) for count in counts}
    print("\nthe mitigation matrix, a seed for each worker")
    for count, (rate, start_s) in figures.items():
        growth = rate / figures[1][0]
        print(f"  {count:3} at once {rate:8.0f} runs/h  ({growth:.2f} x one)   start of the workers {start_s:.1f} s")
