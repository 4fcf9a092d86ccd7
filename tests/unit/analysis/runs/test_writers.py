"""The writers to each disk."""

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from support.pictured import BOUNDARIES, MS, S
from support.runs import write_run_of

from wblab.analysis.runs.pagecache import DirtiedPages
from wblab.analysis.runs.pauses import Window, pause_report
from wblab.analysis.runs.rates import dirtied_rates, load_rates
from wblab.analysis.runs.run import read_run
from wblab.analysis.runs.writers import Writer, traces_dirtied_folios, writers
from wblab.cli import main
from wblab.core.rundir import DISKS
from wblab.lab.results import SPECS
from wblab.lab.specfile import read_spec
from wblab.report.pausetext import top_writers

KIB, MIB = 1024, 1 << 20
DEVICES = {"slow": {"device": "98:0", "written_ns": 0}, "fast": {"device": "98:16", "written_ns": 0}}


@pytest.fixture
def two_disks(tmp_path):
    """The run of the tests of pictures, with mw1 on a second disk."""
    base = read_spec(SPECS.find("base"))
    loads = {name: replace(base.load[name], disk="fast" if name == "mw1" else "") for name in BOUNDARIES}
    spec = replace(base, disk={"slow": base.disk["disk"], "fast": base.disk["disk"]}, load=loads)
    path = write_run_of(spec, tmp_path / "run", BOUNDARIES)
    (path / DISKS).write_text(json.dumps(DEVICES))
    return read_run(path)


def dirtied(*rows, sizes=None):
    """Folios that tasks dirtied. sizes: in bytes; by default not known."""
    times, tasks, disks = zip(*rows, strict=True)
    columns = (np.array(tasks, object), np.array(disks, object), np.array(sizes or [0] * len(rows), np.int64))
    return SimpleNamespace(dirtied=DirtiedPages(np.array(times, np.int64), *columns))


def test_loads_are_listed_by_disk_with_the_largest_writers_first(two_disks):
    l1, mw1, w1 = (len(BOUNDARIES[name]) - 1 for name in ("l1", "mw1", "w1"))
    assert writers(two_disks) == (
        Writer("l1", "slow", l1 * KIB),
        Writer("w1", "slow", w1 * two_disks.load("w1").load.cycle_bytes),
        Writer("mw1", "fast", mw1),
    )


def test_a_load_that_dropped_work_has_no_known_rate(two_disks):
    lossy = replace(two_disks, loads=tuple(replace(item, dropped=1) for item in two_disks.loads if item.name == "mw1"))
    assert writers(lossy) == (Writer("mw1", "fast", len(BOUNDARIES["mw1"]) - 2),)
    assert load_rates(lossy, Window(0, 8 * S)).per_s == {}


def test_all_tasks_that_dirty_folios_are_listed(two_disks):
    cache = dirtied((S, "l1", "slow"), (S, "cp", "fast"), (2 * S, "cp", "fast"), (S, "kworker/u2:1-x", "fast"))
    found = {(each.task, each.disk): each for each in writers(two_disks, cache)}
    assert found["cp", "fast"] == Writer("cp", "fast", None, 2)
    assert found["kworker", "fast"].dirtied_folios == 1
    assert (found["l1", "slow"].written_bytes, found["l1", "slow"].dirtied_folios) == (3 * KIB, 1)
    assert found["mw1", "fast"].dirtied_folios == 0
    rates = dirtied_rates(cache, Window(0, 8 * S))
    assert list(rates.per_s) == ["cp (fast)", "kworker (fast)", "l1 (slow)"]
    assert {name: per_s.sum() * rates.bin_ns / S for name, per_s in rates.per_s.items()} == {
        "cp (fast)": 2, "kworker (fast)": 1, "l1 (slow)": 1,
    }  # fmt: skip


def test_folios_count_by_their_sizes_where_the_trace_shows_them(two_disks):
    rows = (S, "l1", "slow"), (S, "cp", "fast"), (2 * S, "cp", "fast"), (3 * S, "mv", "fast")
    cache = dirtied(*rows, sizes=[MIB, 4 * KIB, 4 * KIB, 64 * KIB])
    found = {(each.task, each.disk): each.dirtied_bytes for each in writers(two_disks, cache)}
    assert found == {
        ("l1", "slow"): MIB, ("w1", "slow"): 0, ("mw1", "fast"): 0, ("cp", "fast"): 8 * KIB, ("mv", "fast"): 64 * KIB,
    }  # fmt: skip
    rates = dirtied_rates(cache, Window(0, 8 * S))
    assert {name: per_s.sum() * rates.bin_ns / S for name, per_s in rates.per_s.items()} == {
        "l1 (slow)": MIB, "mv (fast)": 64 * KIB, "cp (fast)": 8 * KIB,
    }  # fmt: skip
    assert list(top_writers(pause_report(two_disks, cache=cache)))[1::2] == [
        "dirtied most on slow: l1 (1 MiB)", "dirtied most on fast: mv (64 KiB), cp (8 KiB)",
    ]  # fmt: skip


def test_rates_of_loads_add_up_to_all_their_writes(two_disks):
    rates = load_rates(two_disks, Window(0, 9 * S))
    assert rates.per_s["l1"].sum() * rates.bin_ns / S == pytest.approx(3 * KIB)
    assert "c1" not in rates.per_s


def test_only_a_trace_of_dirtied_folios_shows_other_writers(two_disks):
    assert not traces_dirtied_folios(two_disks)
    trace = replace(two_disks.spec.trace, events=("writeback:writeback_dirty_folio",))
    assert traces_dirtied_folios(replace(two_disks, spec=replace(two_disks.spec, trace=trace)))


def test_the_verb_lists_disks_and_their_largest_writers(two_disks, capsys):
    assert main(["why", "--pauses", str(two_disks.path)]) == 0
    out = capsys.readouterr().out
    assert "load  kind        disk" in out
    assert "wrote most to slow: l1 (3 KiB), w1 (1 byte)\nwrote most to fast: mw1 (4 bytes)\n" in out
    report = pause_report(two_disks, cache=dirtied((MS, "cp", "fast"))).to_json()
    assert {load["name"]: load["disk"] for load in report["loads"]} == {
        "c1": "", "w1": "slow", "mw1": "fast", "l1": "slow",
    }  # fmt: skip
    cp = {"task": "cp", "disk": "fast", "written_bytes": None, "dirtied_folios": 1, "dirtied_bytes": None}
    assert cp in report["writers"]


def test_with_one_disk_no_disk_is_named(make_run, capsys):
    assert main(["why", "--pauses", str(make_run(BOUNDARIES))]) == 0
    out = capsys.readouterr().out
    table = out.partition("\n\n")[2]  # below the first line, since the run's name may have the word
    assert table.startswith("load")
    assert "disk" not in table
    assert "wrote most" not in out
