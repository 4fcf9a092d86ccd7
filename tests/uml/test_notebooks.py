"""The notebooks, executed from top to bottom on a run made for them."""

import os
import re

import nbformat
import numpy as np
import pyarrow.parquet as pq
import pytest
from support.executed import execute
from support.lottery import on_its_day

from wblab.analysis.runs.flush import BACKGROUND, LIMIT
from wblab.host.request import ready
from wblab.host.run import run_experiment
from wblab.lab.formats import DESIGN, TABLE
from wblab.lab.named import MATRICES
from wblab.lab.places import ROOT
from wblab.notebook import RUN_VARIABLE, RUNS_VARIABLE
from wblab.study.designs.factorial import read_matrix
from wblab.study.designs.sample.design import design_of
from wblab.study.designs.sample.plan import planned
from wblab.study.designs.sample.record import encode, record_of
from wblab.study.designs.sample.sample import sample
from wblab.study.store import Store
from wblab.study.table import results_table

NO_CACHE = ("disk.seek_time=0", "disk.cache_bytes=0", "disk.drain_bps=0")
FIGURES = {"timeline": 2, "throttling": 5}
NOTEBOOKS = (*FIGURES, "compare", "flush-time", "paradigms", "layers", "blocks", "why", "explore")


def of_a_day(notebook):
    """Mark a test of a notebook: three notebooks are executed a day, all of them in turn and by make soak."""
    return on_its_day(notebook, NOTEBOOKS, 3)


@pytest.fixture(scope="module")
def base_run(shared_lab):
    return shared_lab.run("base")


@pytest.mark.parametrize("name", [pytest.param(name, marks=of_a_day(name)) for name in FIGURES])
def test_a_notebook_runs_and_shows_figures(base_run, monkeypatch, tmp_path, name):
    monkeypatch.setenv(RUN_VARIABLE, str(base_run.path))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    notebook = nbformat.read(ROOT / "analysis" / f"{name}.ipynb", as_version=4)
    shown = execute(notebook)
    assert any(base_run.path.name in data.get("text/plain", "") for data in shown)
    assert sum("image/png" in data for data in shown) >= FIGURES[name]


@of_a_day("timeline")
@pytest.mark.usefixtures("kernel")
def test_a_notebook_makes_its_run_and_touches_no_other(monkeypatch, tmp_path):
    monkeypatch.delenv(RUN_VARIABLE, raising=False)
    monkeypatch.setenv("WBLAB_EXP", str(tmp_path / "exp"))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    shown = [execute(nbformat.read(ROOT / "analysis" / "timeline.ipynb", as_version=4)) for _ in range(2)]
    (made,) = (tmp_path / "exp").glob("[0-9]*")
    assert made.name.endswith("_base")
    for once in shown:  # the second time it is found
        assert any(made.name in data.get("text/plain", "") for data in once)


@of_a_day("compare")
def test_the_comparison_notebook_compares_some_runs(shared_lab, monkeypatch, tmp_path):
    rates = ("1MiB/s", "2MiB/s")
    short = ("trace.events=[]", "load.l1.size=30MiB", "load.l2.wait=15s", "load.l2.size=4MiB")
    runs = [
        shared_lab.run("base", *short, f"disk.write_bps={rate}", f"seed={seed}")
        for rate in rates
        for seed in range(1, 6)
    ]
    monkeypatch.setenv(RUNS_VARIABLE, os.pathsep.join(str(run.path) for run in runs))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    notebook = nbformat.read(ROOT / "analysis" / "compare.ipynb", as_version=4)
    shown = execute(notebook)
    assert sum("image/png" in data for data in shown) >= 2
    assert any("disk.write_bps" in data.get("text/plain", "") for data in shown)
    assert any("less: better" in data.get("text/plain", "") for data in shown)


@of_a_day("flush-time")
def test_the_flush_time_notebook_compares_pauses_with_the_flush_time(shared_lab, monkeypatch, tmp_path):
    short = ("load.l1.size=6MiB", "load.l1.wait=1s", "load.l2.size=1MiB", "load.l2.wait=2s", "trace.events=[]")
    in_bytes = ("sysctl.vm.dirty_ratio=0", "sysctl.vm.dirty_background_ratio=0")
    limits = [(f"sysctl.{BACKGROUND}={mib << 20}", f"sysctl.{LIMIT}={mib << 21}") for mib in (1, 2)]
    runs = [
        shared_lab.run("base-device", *short, *in_bytes, *limit, f"disk.write_bps={rate}")
        for limit in limits
        for rate in ("2MiB/s", "4MiB/s")
    ]
    monkeypatch.setenv(RUNS_VARIABLE, os.pathsep.join(str(run.path) for run in runs))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    notebook = nbformat.read(ROOT / "analysis" / "flush-time.ipynb", as_version=4)
    shown = execute(notebook)
    assert sum("image/png" in data for data in shown) >= 2
    assert any("exponent of throughput" in data.get("text/plain", "") for data in shown)


@of_a_day("paradigms")
def test_the_paradigms_notebook_ranks_ways_of_doing_io(shared_lab, monkeypatch, tmp_path):
    short = ("trace.events=[]", "load.l1.size=24MiB", "load.l1.wait=2s")
    ways = (("sync", "sync"), ("threads", "threads"), ("pipe", "sendfile"))
    runs = [
        shared_lab.run("loop", *short, f"load.g1.paradigm={log}", f"load.s1.paradigm={server}") for log, server in ways
    ]
    monkeypatch.setenv(RUNS_VARIABLE, os.pathsep.join(str(run.path) for run in runs))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    notebook = nbformat.read(ROOT / "analysis" / "paradigms.ipynb", as_version=4)
    shown = execute(notebook)
    assert sum("image/png" in data for data in shown) >= 2
    tables = [data["text/plain"] for data in shown if "text/plain" in data]
    assert any("threads" in table and "sendfile" in table for table in tables)
    assert any("threads" in table and "pipe" in table for table in tables)


@of_a_day("layers")
def test_the_layers_notebook_splits_writes(shared_lab, monkeypatch, tmp_path):
    short = ("load.s1.count=12", "load.l1.wait=1s", "trace.lead=1s", *NO_CACHE)
    runs = [shared_lab.run("layers", *short, f"disk.latency={time}") for time in ("1ms", "10ms")]
    monkeypatch.setenv(RUN_VARIABLE, str(runs[0].path))
    monkeypatch.setenv(RUNS_VARIABLE, os.pathsep.join(str(run.path) for run in runs))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    shown = execute(nbformat.read(ROOT / "analysis" / "layers.ipynb", as_version=4))
    assert sum("image/png" in data for data in shown) >= 3
    texts = [data["text/plain"] for data in shown if "text/plain" in data]
    assert any("commit > logging > buffer > flush" in text for text in texts)
    assert any("repeated" in text for text in texts)


@of_a_day("blocks")
def test_the_blocks_notebook_shows_sizes_of_writes(kernel, monkeypatch, tmp_path):
    for cell in read_matrix(MATRICES.find("blocks")).cells:
        run_experiment(ready(cell.with_seed(1), lambda name: kernel), tmp_path / "exp")
    runs = sorted((tmp_path / "exp").glob("[0-9]*"))
    monkeypatch.setenv(RUNS_VARIABLE, os.pathsep.join(map(str, runs)))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    notebook = nbformat.read(ROOT / "analysis" / "blocks.ipynb", as_version=4)
    shown = execute(notebook)
    assert sum("image/png" in data for data in shown) >= 8
    texts = [data["text/plain"] for data in shown if "text/plain" in data]
    assert any("{'linear': {'line': 0, 'a': 64}, 'mirror': {'mirror': 64, 'b': 0, 'a': 0}}" in text for text in texts)


@of_a_day("why")
@pytest.mark.timeout(900)
def test_the_why_notebook_explains_a_pause_and_proves_its_cause(shared_lab, monkeypatch, tmp_path):
    run = shared_lab.run("base-device", "trace.lead=1s")
    monkeypatch.setenv(RUN_VARIABLE, str(run.path))
    monkeypatch.setenv("WBLAB_EXP", str(tmp_path / "exp"))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    notebook = nbformat.read(ROOT / "analysis" / "why.ipynb", as_version=4)
    (proof,) = (cell for cell in notebook.cells if 'KERNEL = ""' in cell.source)
    proof.source = proof.source.replace('KERNEL = ""', f"KERNEL = {str(shared_lab.kernel.path)!r}")
    shown = execute(notebook, cell_s=240)  # it runs guests
    assert sum("image/png" in data for data in shown) >= 2
    tables = [data["text/plain"] for data in shown if "text/plain" in data]
    assert any("do_get_write_access" in table and "journal_end_buffer_io_sync" in table for table in tables)
    assert any(re.search(r"^l1 +gone", table, re.MULTILINE) for table in tables)


@of_a_day("explore")
def test_the_explore_notebook_shows_the_effects(monkeypatch, tmp_path):
    """The rows have invented pauses, so that the right answer is known."""
    levels = {"limit": ["1MiB", "2MiB", "4MiB", "8MiB"], "scheduler": ["none", "bfq"]}
    keys = {"limit": "sysctl.vm.dirty_bytes", "scheduler": "disk.scheduler"}
    factors = {name: {"key": keys[name], "levels": of} for name, of in levels.items()}
    thresholds = {"sysctl.vm.dirty_ratio": 0, "sysctl.vm.dirty_background_ratio": 0}
    design = design_of({"name": "d", "base": "base-device", "runs": 256, "set": thresholds, "factors": factors})
    points = sample(design.head, 2)
    matrix = planned(design, points, tmp_path)
    store = Store.create(
        tmp_path / "exp", matrix, {"": {"build_id": "0" * 16}}, {DESIGN: encode(record_of(design, points))}
    )
    chance = np.random.default_rng(1).lognormal(0, 0.3, 256)
    parts = []
    for cell, point, noise in zip(matrix.cells, points, chance, strict=True):
        limit, is_bfq = int(4 * point[0]), point[1] >= 0.5
        rows = [("w1", "write", "longest_pause_s", noise * 2**limit * (0.2 if is_bfq else 1)),
                ("l1", "load", "throughput_bps", 1e6 * (1 + limit) * noise)]  # fmt: skip
        parts.append((cell, 1, f"{cell.name}-s1", rows))
    pq.write_table(results_table(matrix, parts), store.path / TABLE)
    monkeypatch.setenv(RUNS_VARIABLE, str(store.path))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    shown = execute(nbformat.read(ROOT / "analysis" / "explore.ipynb", as_version=4), cell_s=240)
    assert sum("image/png" in data for data in shown) >= 5
    tables = [data["text/plain"] for data in shown if "text/plain" in data]
    assert any(re.search(r"^limit .*True", table, re.MULTILINE) for table in tables)
    assert any("RBD-FAST" in table for table in tables)
