from dataclasses import replace

import numpy as np
import pytest
from support.runs import MS, write_run_of

from wblab.analysis.runs.blocks import Submitted
from wblab.analysis.runs.metrics import (
    METRICS,
    control_stall_s,
    is_noisy,
    load_metrics,
    medians,
    metrics_frame,
    rows_of,
    with_cell,
)
from wblab.analysis.runs.run import read_run
from wblab.lab.results import SPECS
from wblab.lab.specfile import read_spec


@pytest.fixture
def run(make_run):
    steady = [50 * MS * i for i in range(101)]
    paused = [100 * MS * i for i in range(50)] + [100 * MS * 50 + 2000 * MS]
    offender = [0, 5000 * MS, *(5000 * MS + 250 * MS * i for i in range(1, 5))]
    return read_run(make_run({"c1": steady, "mw1": paused, "l1": offender}))


def test_metrics_of_an_innocent_load(run):
    found = load_metrics(run.load("mw1"))
    assert found["longest_pause_s"] == pytest.approx(2.0)
    assert found["paused_s"] == pytest.approx(2.0)
    assert found["wait_time_s"] == pytest.approx(2.0**2 / 2 / 7.0)
    assert found["cycle_p50_s"] == pytest.approx(0.1)
    assert found["cycle_p999_s"] == pytest.approx(2.1)
    assert "throughput_bps" not in found


def test_an_offender_s_throughput_counts_from_its_first_write(run):
    assert load_metrics(run.load("l1"))["throughput_bps"] == pytest.approx(4 * 1024 / 1.0)
    assert load_metrics(run.load("l1"))["mean_cycle_s"] == pytest.approx(0.25)


def test_an_offender_that_only_waited_has_no_throughput(make_run):
    waited = read_run(make_run({"c1": [0, 50 * MS], "l1": [0, 4000 * MS]}))
    assert load_metrics(waited.load("l1")) == {}


def test_a_tidy_table_with_tails_first(run):
    table = metrics_frame(run)
    assert list(table.columns) == ["run", "load", "kind", "metric", "value"]
    assert set(table["run"]) == {run.path.name}
    of_load = table[table["load"] == "mw1"]["metric"].tolist()
    assert of_load == [metric for metric in METRICS if metric in of_load]
    assert np.isfinite(table["value"]).all()


def test_control_stall(run, make_run):
    assert control_stall_s(run) == 0
    assert not is_noisy(run)


def test_a_stalled_control_load_makes_a_run_noisy(make_run):
    stalled = read_run(make_run({"c1": [0, 50 * MS, 200 * MS]}, clock="real"))
    assert control_stall_s(stalled) == pytest.approx(0.1)
    assert is_noisy(stalled)


def test_in_virtual_time_the_host_makes_no_run_noisy(make_run):
    assert not is_noisy(read_run(make_run({"c1": [0, 50 * MS, 200 * MS]}, clock="virtual")))


def test_cells_and_medians(run):
    both = with_cell(metrics_frame(run), {"disk.scheduler": "bfq", "seed": 1})
    assert list(both.columns)[:2] == ["disk.scheduler", "seed"]
    wide = medians(both, ["disk.scheduler"])
    assert wide.loc[("bfq", "mw1"), "longest_pause_s"] == pytest.approx(2.0)
    assert list(wide.columns) == [metric for metric in METRICS if metric in wide.columns]


def test_loads_that_wait_for_the_disk_have_a_rate_of_whole_cycles(tmp_path):
    spec = read_spec(SPECS.find("commit"))
    spec = replace(spec, load={name: spec.load[name] for name in ("c1", "k1", "r1")})
    cut = [0, 100 * MS, 200 * MS, 2000 * MS]
    run = read_run(write_run_of(spec, tmp_path / "run", {"c1": cut, "k1": cut, "r1": [0, 500 * MS]}))
    assert load_metrics(run.load("k1"))["cycle_rate_hz"] == pytest.approx(2 / 2.0)
    assert load_metrics(run.load("k1"))["longest_pause_s"] == pytest.approx(1.7)
    assert load_metrics(run.load("r1"))["cycle_rate_hz"] == 0
    assert "cycle_rate_hz" not in load_metrics(run.load("c1"))


KIB = 1024


def requests(*rows):
    """Return requests: time in ms, disk, size in KiB, and whether it is a write."""
    times, disks, sizes, writes = zip(*rows, strict=True)
    return Submitted(
        ts_ns=np.array(times, np.int64) * MS,
        task=np.array(["flush"] * len(rows)),
        disk=np.array(disks),
        place=np.zeros(len(rows), np.int64),
        size=np.array(sizes, np.int64) * KIB,
        write=np.array(writes, bool),
    )


def test_each_disk_has_its_rate_and_its_mean_size():
    found = requests((0, "slow", 4, True), (500, "fast", 8, True), (900, "fast", 24, True), (950, "fast", 4, False))
    assert rows_of(found, 0, 2000 * MS) == [
        ("slow", "disk", "write_requests_hz", 0.5),
        ("slow", "disk", "mean_write_request_bytes", 4 * KIB),
        ("fast", "disk", "write_requests_hz", 1.0),
        ("fast", "disk", "mean_write_request_bytes", 16 * KIB),
    ]


def test_requests_before_and_after_the_loads_do_not_count():
    found = requests((0, "", 4, True), (100, "", 8, True), (200, "", 4, True))
    assert rows_of(found, 100 * MS, 200 * MS)[0] == ("disk", "disk", "write_requests_hz", 10.0)
    assert not rows_of(found, 300 * MS, 400 * MS)
