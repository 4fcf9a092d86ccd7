"""How many runs of a matrix are made in an hour, what its start takes, and whether its workers ever wait."""

import pytest
from support.watched import idle_share, rate_per_hour, watch

from wblab.host.machine import processors

pytestmark = pytest.mark.bench

COUNTS = (1, 2, 4, 8, 16, 32, 64)


def test_runs_per_hour(tmp_path):
    counts = [workers for workers in COUNTS if workers <= 2 * processors()]
    print("\nthe mitigation matrix, a seed for each worker")
    one = 0.0
    for workers in counts:
        seen = watch(["study", "mitigation", "--seeds", str(workers)], workers, tmp_path / str(workers))
        rate, idle = rate_per_hour(seen), idle_share(seen, workers)
        one = one or rate
        print(f"  {workers:3} at once {rate:8.0f} runs/h  ({rate / one:.2f} x one)   idle {idle:4.0%}", end="")
        print(f"   to the first run {seen.start_s:.1f} s, the whole command {seen.end_s:.1f} s")
