"""Small valid directories of every kind that the lab reads, to make hostile ones from."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pandas as pd

from wblab.analysis.runs.digest import digest
from wblab.analysis.runs.run import read_run
from wblab.claims.sources.cases import case_spec
from wblab.claims.sources.registry import chosen
from wblab.claims.verify.runs import plan_of
from wblab.core.loads import Command
from wblab.core.tables import to_table
from wblab.lab.results import SPECS
from wblab.lab.specfile import HostDisk, LiveSpec, read_spec
from wblab.live.runs.request import INNOCENT
from wblab.live.twin import scale as twins
from wblab.live.twin.described import Machine
from wblab.study.designs.matrix.factorial import expand
from wblab.study.plan import Plan
from wblab.study.rowfile import run_rows
from wblab.study.store import Store

from .runs import MS, S, write_run_of
from .specs import TWO_LOADS

TRACE = Path(__file__).parents[1] / "data" / "base.v7.dat"
MACHINE = Machine(
    memory_bytes=8 << 30,
    background_bytes=800 << 20,
    dirty_bytes=1600 << 20,
    write_bps=100 << 20,
    filesystem="ext4",
    scheduler="none",
    offender_bytes=4 << 30,
    wait_ns=S,
    innocent={},
)
# The files of a live run besides its load records, as wblab.live.runs.record writes them.
LIVE = {
    "traffic": {"seconds": 60.0, "written_bytes": 3 << 30, "busy_s": 40.5, "most_written_per_s": 70_000_000},
    "thresholds": {"background": 375_000_000, "dirty": 750_000_000},
}


def guest_run(directory: Path, spec=None) -> None:
    spec = spec or read_spec(SPECS.find("base"))
    times = {"control": [0, 50 * MS, 100 * MS], "write": [0, 50 * MS, 101 * MS], "load": [0, 5 * S, 5100 * MS, 8 * S]}
    times["multiwrite"] = [0, 100 * MS, 200 * MS, 1700 * MS, 1800 * MS]
    write_run_of(spec, directory, {name: times[load.kind] for name, load in spec.load.items()})
    shutil.copyfile(TRACE, directory / "trace.dat")
    (directory / "console.log").write_text("the console\n")


def live_run(directory: Path) -> None:
    loads = INNOCENT | {"apt": Command(argv=("apt", "upgrade"), wait=S)}
    disk = HostDisk(device="/dev/sda1", filesystem="ext4", scheduler="mq-deadline")
    spec = LiveSpec(name="live", memory=8 << 30, disk=disk, load=loads)
    times = {name: [0, 50 * MS, 100 * MS] if load.kind == "control" else [0, S, 3 * S] for name, load in loads.items()}
    write_run_of(spec, directory, times, kind="live", live=LIVE)
    shutil.copyfile(TRACE, directory / "trace.pause-1.dat")
    said = {"start_ns": 0, "end_ns": 3 * S, "pause_start_ns": S, "pause_end_ns": 2 * S, "load": "apt"}
    (directory / "trace.pause-1.json").write_text(json.dumps(said))


def matrix(directory: Path) -> None:
    """Write a matrix of two cells and two seeds, one of them missing, with its table."""
    base = directory.parent / "small.toml"
    base.write_text(TWO_LOADS)
    table = {"name": "m", "base": base.name, "seeds": 2, "axes": {"disk.scheduler": ["none", "bfq"]}}
    kernels = {"": {"build_id": "a" * 64, "release": "7.3.0"}}
    store = Store.create(directory.parent / "made", expand(table, directory.parent), kernels)
    for cell, seed in store.plan.runs()[:3]:
        times = {"c1": [0, 50 * MS, 100 * MS], "l1": [0, S, (1010 + seed) * MS, 1030 * MS]}
        spec = cell.with_seed(seed)
        write_run_of(spec, store.runs / spec.name, times)
    store.settle()
    shutil.move(store.path, directory)


def rows(directory: Path) -> None:
    """Write a study of two cells and three seeds with rows: three in a file, one in the journal, two missing."""
    base = directory.parent / "small.toml"
    base.write_text(TWO_LOADS)
    table = {"name": "m", "base": base.name, "seeds": 3, "axes": {"disk.scheduler": ["none", "bfq"]}}
    kernels = {"": {"build_id": "a" * 64, "release": "7.3.0"}}
    plan = replace(expand(table, directory.parent), keep="digests")
    store = Store.create(directory.parent / "made", plan, kernels)
    for count, (cell, seed) in enumerate(store.plan.runs()[:4], 1):
        times = {"c1": [0, 50 * MS, 100 * MS], "l1": [0, S, (1010 + seed) * MS, 1030 * MS]}
        run = write_run_of(cell.with_seed(seed), store.runs / "run", times)
        store.done(cell, seed, run, run_rows(run, ()), digest(read_run(run)))
        if count == 3:
            store.settle()
    shutil.move(store.path, directory)


def bisection(directory: Path) -> None:
    """Write a bisection in progress."""
    directory.mkdir()
    (directory / "runs").mkdir()
    spec = replace(read_spec(SPECS.find("base")), seed=1)
    commit = {"author": "Ann <ann@localhost>", "date": "2026-11-21T12:00:00+00:00", "subject": "change"}
    question = {"tree": str(directory), "good": {"hash": "1" * 40} | commit, "bad": {"hash": "2" * 40} | commit}
    question |= {"metric": {"load": "mw1", "name": "longest_pause_s"}, "seeds_max": 34, "spec": to_table(spec)}
    (directory / "bisect.json").write_text(json.dumps({"format": 1, "kind": "bisect"} | question | {"tried": []}))
    plan = Plan("bisect", (1, 2, 3), (), design="bisect", about=question)
    (directory / "study.json").write_text(json.dumps({"format": 1, "kind": "study", "kernels": {}} | plan.to_json()))


def verification(directory: Path) -> None:
    """Write a verification whose runs are missing."""
    asked = {"source": "thesis", "claims": ["openat-ext4"], "kernel": "", "format": "png"}
    specs = {case: case_spec(case, 1) for claim in chosen(["openat-ext4"]) for case in claim.cases}
    _study(directory, plan_of("verify", specs, 2, asked))


def twin(directory: Path) -> None:
    """Write a twin whose runs are missing."""
    _study(directory, twins.plan_of(twins.twin_study(MACHINE, None), 2, ""))


def _study(directory: Path, plan: Plan) -> None:
    store = Store.create(directory.parent / "made", plan, {"": {"build_id": "a" * 64, "release": "7.3.0"}})
    shutil.move(store.path, directory)


def a_table(directory: Path) -> None:
    """Write a table of results on its own, as somebody might send it."""
    directory.mkdir()
    rows = [
        (level, seed, f"{level}-s{seed}", load, kind, metric, seed + place / 7)
        for place, level in enumerate(("none", "bfq"))
        for seed in (1, 2, 3)
        for load, kind in (("mw1", "multiwrite"), ("l1", "load"))
        for metric in ("longest_pause_s", "wait_time_s")
    ]
    columns = ["disk.scheduler", "seed", "run", "load", "kind", "metric", "value"]
    pd.DataFrame(rows, columns=columns).to_csv(directory / "table.csv", index=False)
    pd.DataFrame(rows, columns=columns).to_parquet(directory / "table.parquet", index=False)
