"""The notebooks, executed from top to bottom on runs made for them."""

import re

import nbformat
import numpy as np
import pytest
from flush_time import BACKGROUND, LIMIT_BYTES
from support.executed import execute
from support.lottery import on_its_day
from support.studyrows import write_rows

from wblab.lab.formats import DESIGN
from wblab.lab.places import ROOT
from wblab.study.designs.explore.design import design_of
from wblab.study.designs.explore.points import planned, sample
from wblab.study.designs.explore.record import encode, record_of
from wblab.study.store import Store

NO_CACHE = ("disk.seek_time=0", "disk.cache_bytes=0", "disk.drain_bps=0")
ANALYSIS = ROOT / "analysis"
TWO_RATES = """
name = "two-rates"
base = "base"
seeds = 5
[set]
"trace.events" = []
"load.l1.size" = "30MiB"
"load.l2.wait" = "15s"
"load.l2.size" = "4MiB"
[axes.rate]
slow = { "disk.write_bps" = "1MiB/s" }
fast = { "disk.write_bps" = "2MiB/s" }
"""


@pytest.fixture(autouse=True)
def _own(monkeypatch, tmp_path):
    monkeypatch.setenv("WBLAB_EXP", str(tmp_path / "exp"))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))


def shown(name, cell_s=60, **changed):
    """Return the output of a notebook. changed: the names of calls that make something, and what is called instead."""
    notebook = nbformat.read(ANALYSIS / f"{name}.ipynb", as_version=4)
    for call, instead in changed.items():
        cells = [cell for cell in notebook.cells if f"wblab.{call}(" in cell.source and cell.cell_type == "code"]
        assert cells, call
        for cell in cells:
            cell.source = re.sub(rf"wblab\.{call}\([^)]*\)", lambda found: instead, cell.source)  # noqa: B023
    return execute(notebook, cell_s=cell_s, cwd=ANALYSIS)


def texts(outputs):
    return [data["text/plain"] for data in outputs if "text/plain" in data]


def figures(outputs):
    return sum("image/png" in data for data in outputs)


def read(run):
    return f"wblab.read({str(run.path)!r})"


def several(runs):
    return f"[{', '.join(map(read, runs))}]"


# Three are executed a day. What is last makes its own run, and finds it again.
NOTEBOOKS = (
    "timeline",
    "throttling",
    "compare",
    "flush-time",
    "paradigms",
    "layers",
    "blocks",
    "why",
    "explore",
    "reuse",
)
FIGURES = {"timeline": 2, "throttling": 5}  # at least so many


def of_a_day(name):
    return on_its_day(name, NOTEBOOKS, 3)


@pytest.mark.parametrize("name", [pytest.param(name, marks=of_a_day(name)) for name in FIGURES])
def test_a_notebook_shows_figures_of_a_run(shared_lab, name):
    run = shared_lab.once("base")
    outputs = shown(name, run=read(run))
    assert any(run.path.name in text for text in texts(outputs))
    assert figures(outputs) >= FIGURES[name]


@of_a_day("reuse")
def test_a_notebook_makes_its_run_and_the_second_time_finds_it(kernel, tmp_path):
    for _ in range(2):
        outputs = shown("timeline", run=f'wblab.run("base", kernel={str(kernel.path)!r}, reuse=True)')
        (made,) = (tmp_path / "exp").glob("[0-9]*")
        assert any(made.name in text for text in texts(outputs))


@of_a_day("compare")
def test_the_comparison_notebook_compares_some_runs(kernel, tmp_path):
    (tmp_path / "two-rates.toml").write_text(TWO_RATES)
    made = f"wblab.run_study({str(tmp_path / 'two-rates.toml')!r}, kernel={str(kernel.path)!r})"
    outputs = shown("compare", cell_s=300, run_study=made)
    assert figures(outputs) >= 2
    assert any("'rate': ('slow', 'fast')" in text for text in texts(outputs))
    assert any("less: better" in text for text in texts(outputs))


@of_a_day("flush-time")
def test_the_flush_time_notebook_compares_pauses_with_the_flush_time(shared_lab):
    short = ("load.l1.size=6MiB", "load.l1.wait=1s", "load.l2.size=1MiB", "load.l2.wait=2s", "trace.events=[]")
    in_bytes = ("sysctl.vm.dirty_ratio=0", "sysctl.vm.dirty_background_ratio=0")
    limits = [(f"sysctl.{BACKGROUND}={mib << 20}", f"sysctl.{LIMIT_BYTES}={mib << 21}") for mib in (1, 2)]
    runs = [
        shared_lab.run("base-device", *short, *in_bytes, *limit, f"disk.write_bps={rate}")
        for limit in limits
        for rate in ("2MiB/s", "4MiB/s")
    ]
    outputs = shown("flush-time", run_study=several(runs))
    assert figures(outputs) >= 2
    assert any("exponent of throughput" in text for text in texts(outputs))


@of_a_day("paradigms")
def test_the_paradigms_notebook_ranks_ways_of_doing_io(shared_lab):
    short = ("trace.events=[]", "load.l1.size=24MiB", "load.l1.wait=2s")
    ways = (("sync", "sync"), ("threads", "threads"), ("pipe", "sendfile"))
    runs = [
        shared_lab.run("loop", *short, f"load.g1.paradigm={log}", f"load.s1.paradigm={server}") for log, server in ways
    ]
    outputs = shown("paradigms", run_study=several(runs))
    assert figures(outputs) >= 2
    assert any("threads" in table and "sendfile" in table for table in texts(outputs))
    assert any("threads" in table and "pipe" in table for table in texts(outputs))


@of_a_day("layers")
def test_the_layers_notebook_splits_writes(shared_lab):
    short = ("load.s1.count=12", "load.l1.wait=1s", "trace.lead=1s", *NO_CACHE)
    runs = [shared_lab.run("layers", *short, f"disk.latency={time}") for time in ("1ms", "10ms")]
    outputs = shown("layers", run=read(runs[0]), run_study=several(runs))
    assert figures(outputs) >= 3
    assert any("commit > logging > buffer > flush" in text for text in texts(outputs))
    assert any("repeated_us" in text for text in texts(outputs))


@of_a_day("blocks")
def test_the_blocks_notebook_shows_sizes_of_writes(kernel):
    outputs = shown("blocks", cell_s=300, run_study=f'wblab.run_study("blocks", kernel={str(kernel.path)!r})')
    assert figures(outputs) >= 8
    splits = "{'linear': {'line': 0, 'a': 64}, 'mirror': {'mirror': 64, 'b': 0, 'a': 0}}"
    assert any(splits in text for text in texts(outputs))


@of_a_day("why")
@pytest.mark.timeout(900)
def test_the_why_notebook_explains_a_pause_and_proves_its_cause(shared_lab):
    run = shared_lab.run("base-device", "trace.lead=1s")
    notebook = nbformat.read(ANALYSIS / "why.ipynb", as_version=4)
    (proof,) = (cell for cell in notebook.cells if cell.source == "pause.prove()")
    proof.source = f"pause.prove(kernel={str(shared_lab.kernel.path)!r})"
    notebook.cells[1].source = notebook.cells[1].source.replace('wblab.run("base-device", reuse=True)', read(run))
    outputs = execute(notebook, cell_s=240, cwd=ANALYSIS)  # it runs guests
    assert figures(outputs) >= 2
    assert any("do_get_write_access" in table and "journal_end_buffer_io_sync" in table for table in texts(outputs))
    assert any(re.search(r"^l1 +gone", table, re.MULTILINE) for table in texts(outputs))


@of_a_day("explore")
def test_the_explore_notebook_shows_the_effects(tmp_path):
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
        parts.append((cell, 1, rows))
    write_rows(store.path, matrix, parts)
    outputs = shown("explore", cell_s=240, read=f"wblab.read({str(store.path)!r})")
    assert figures(outputs) >= 5
    assert any(re.search(r"^limit .*True", table, re.MULTILINE) for table in texts(outputs))
    assert any("RBD-FAST" in table for table in texts(outputs))
