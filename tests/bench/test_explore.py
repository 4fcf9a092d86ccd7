"""How many rows of an exploration are made in an hour by one, two and four workers, in turn."""

import statistics

import pytest
from support.watched import idle_share, rate_per_hour, watch

from wblab.lab.places import EXPLORATIONS

pytestmark = pytest.mark.bench

ROWS, ROUNDS = 48, 3
WORKERS = (1, 2, 4)


def test_rows_per_hour(tmp_path):
    design = tmp_path / "writeback.toml"
    text = (EXPLORATIONS / design.name).read_text()
    assert "\nruns = 1024\n" in text
    design.write_text(text.replace("\nruns = 1024\n", f"\nruns = {ROWS}\n"))
    rates: dict[int, list[float]] = {workers: [] for workers in WORKERS}
    print(f"\n{ROWS} rows of writeback, {ROUNDS} times")
    for turn in range(ROUNDS):
        for workers in WORKERS:
            seen = watch(["study", str(design)], workers, tmp_path / f"{turn}-{workers}")
            rates[workers].append(rate_per_hour(seen))
            print(f"  {workers:3} at once {rates[workers][-1]:8.0f} rows/h   idle {idle_share(seen, workers):4.0%}")
    for workers, found in rates.items():
        ratio = statistics.median(found) / statistics.median(rates[1])
        print(f"  {workers:3} at once, median {statistics.median(found):8.0f} rows/h  ({ratio:.2f} x one)")
