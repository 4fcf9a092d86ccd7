"""What CONTRIBUTING says of a new kind of load: one class, and every stage knows it."""

import json
import os
import time
import tomllib
from dataclasses import dataclass, replace
from random import Random

import pytest

from wblab.analysis.groups.comparison import About
from wblab.analysis.runs.metrics import metrics_frame
from wblab.analysis.runs.pauses import pause_report
from wblab.analysis.runs.run import read_run
from wblab.core import rundir
from wblab.core.check import check_spec
from wblab.core.cycles import run_cycles, stamps_for
from wblab.core.errors import InputError
from wblab.core.loads import KINDS, Load
from wblab.core.parameters import check_file
from wblab.core.spec import Spec
from wblab.core.tables import from_table, to_table
from wblab.core.units import Bytes
from wblab.plot.page import page
from wblab.plot.picture import picture
from wblab.plot.timeline import timeline


@dataclass(frozen=True, kw_only=True)
class Commits(Load):
    """Writes a block and waits for the disk, `count` times."""

    kind = "commits"
    role = "offender"
    file: str
    count: int
    block: Bytes = Bytes(4096)

    @property
    def description(self):
        return f"commits {self.count} times"

    @property
    def capacity(self):
        return self.count

    @property
    def cycle_bytes(self):
        return self.block

    @property
    def files(self):
        return {self.file: Bytes(self.count * self.block)}

    def check(self, path=""):
        super().check(path)
        check_file(f"{path}file", self.file)
        if self.count <= 0:
            raise InputError(f"{path}count: commit at least once")

    def idle_ns(self, number):
        return 0

    def prepare(self, mount, draws):
        fd = os.open(mount / self.file, os.O_WRONLY | os.O_CREAT)

        def cycle(number):
            os.write(fd, bytes(self.block))
            os.fsync(fd)

        return cycle


@pytest.fixture
def spec(monkeypatch, spec_text):
    """Return what makes the spec of a new kind's load with these parameters."""
    monkeypatch.setitem(KINDS, Commits.kind, Commits)
    table = tomllib.loads(spec_text)
    del table["load"]["l1"]
    return lambda **given: from_table(Spec, table | {"load": table["load"] | {"k1": {"kind": "commits"} | given}})


def test_a_spec_has_it(spec):
    made = spec(file="f", count=5, block="1K")
    assert made.load["k1"] == Commits(file="f", count=5, block=1024)
    assert (made.offenders, made.needs_lab) == (["k1"], False)
    check_spec(made)
    assert from_table(Spec, json.loads(json.dumps(to_table(made))), exact=True) == made


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"file": "/f", "count": 1}, "load.k1.file: .* inside the mount"),
        ({"file": "f", "count": 0}, "load.k1.count: commit at least once"),
        ({"file": "f", "count": 1, "iolevel": 8}, "load.k1.iolevel: 8"),
        ({"file": "f", "count": 1 << 30}, "does not fit on a disk"),
        ({"file": "f", "count": 1, "start": "-1s"}, "load.k1"),
        ({"file": "f", "count": 1, "wait": "1s"}, "unknown key 'load.k1.wait'"),
    ],
)
def test_its_own_check_is_asked(spec, given, message):
    with pytest.raises(InputError, match=message):
        check_spec(spec(**given))


def test_what_it_measured_is_recorded_read_and_drawn(spec, make_run, tmp_path):
    load = spec(file="f", count=3, block=1000).load["k1"]
    stamps = stamps_for(load)
    run_cycles(load, tmp_path, stamps, time.monotonic_ns(), Random())
    assert (tmp_path / "f").stat().st_size == 3000
    path = make_run({"mw1": [0, 100_000_000, 200_000_000]})
    record = json.loads((path / "experiment.json").read_text())
    record["spec"]["load"]["k1"] = to_table(load)
    (path / "experiment.json").write_text(json.dumps(record))
    rundir.write_load(path, "k1", load, 8, stamps)

    run = read_run(path)
    item = run.load("k1")
    assert (item.load, item.end, len(item.durations_ns)) == (load, "finished", 3)
    assert run.offender_starts_ns() == {"k1": int(item.boundaries_ns[0])}
    assert [one.kind for one in pause_report(run).loads] == ["multiwrite", "commits"]
    table = metrics_frame(run).set_index(["load", "metric"])["value"]
    assert table["k1", "throughput_bps"] == pytest.approx(2000e9 / item.durations_ns[1:].sum())
    assert ("mw1", "throughput_bps") not in table
    shown = timeline(run)
    picture(shown).savefig(file := tmp_path / "timeline.svg")
    assert "commits 3 times" in file.read_text()
    assert "commits 3 times" in str(page(shown))


def test_what_is_not_said_is_that_of_any_load(spec):
    innocent = replace(spec(file="f", count=3).load["k1"])
    assert (innocent.has_pauses, innocent.sleeps_first, innocent.start, innocent.ioclass) == (True, False, 0, "none")
    assert About("k1", "commits", "throughput_bps").sort is Commits
    assert About("x", "of another lab", "paused_s").sort.role == "innocent"
