"""Disks that fail: the loads report it, the run ends in order, nothing is left behind."""

import json
from pathlib import Path

import numpy as np
import pytest

from wblab.analysis.runs.difference import first_differences
from wblab.analysis.runs.pauses import pause_report
from wblab.core.errors import WblabError
from wblab.lab.formats import EXPERIMENT

SPEC = str(Path(__file__).with_name("failing.toml"))
S = 1_000_000_000
READ = "{kind='raw', disk='stick', offset='960KiB', size='128KiB', idle='50ms', order='sequential', through='direct'}"


def fails(lab, *settings):
    """Make a run that must fail; return the reason and its directory."""
    with pytest.raises(WblabError) as failure:
        lab.run(SPEC, *settings)
    (directory,) = lab.results.iterdir()
    record = json.loads((directory / EXPERIMENT).read_text())
    assert (record["outcome"], directory.name[0]) == ("failed", "_")
    assert record["reason"] in str(failure.value)
    assert lab.left_behind() == []
    return record["reason"], directory


def test_a_load_on_a_removed_stick_fails_the_run_at_once(lab):
    reason, directory = fails(lab)
    assert reason == "the load k1 failed: Input/output error"
    assert json.loads((directory / "load.k1.json").read_text())["error"] == "Input/output error"
    control = np.load(directory / "load.c1.npy")
    assert 7.9 * S < control[-1] - control[0] < 9 * S


def test_a_load_that_may_fail_ends_while_the_others_continue(lab):
    first, again = (lab.run(SPEC, "may_fail=['k1']") for _ in range(2))
    gone, stays = first.load("k1"), first.load("k2")
    assert (gone.end, gone.error, stays.end) == ("failed", "Input/output error", "stopped")
    assert 8 * S < gone.boundaries_ns[-1] - first.zero_ns + 200_000_000 < 9 * S
    assert stays.boundaries_ns[-1] - first.zero_ns > 12 * S
    assert pause_report(first).errors == {"k1": "Input/output error"}
    assert (first.disks["stick"].written_ns, first.disks["stays"].written_ns > 0) == (0, True)
    assert first_differences(first, again) == []
    assert lab.left_behind() == []


def test_silently_lost_writes_go_unnoticed(lab):
    run = lab.run(SPEC, "disk.stick.errors=drop")
    assert {item.end for item in run.loads} == {"stopped", "finished"}


def test_creating_files_on_a_removed_stick_ends_with_a_read_only_filesystem(lab):
    mw = "load.k1={kind='multiwrite', disk='stick', file='m', idle='100ms', block='4KiB'}"
    run = lab.run(SPEC, mw, "may_fail=['k1']", "load.l1.wait=60s")
    assert (run.load("k1").end, run.load("k1").error) == ("failed", "Read-only file system")


def test_bad_blocks_cannot_be_read(lab):
    dust = "disk.stick={model='dust', on=['a'], filesystem='none', bad=['1MiB']}"
    reason, directory = fails(lab, dust, f"load.k1={READ}")
    assert reason == "the load k1 failed: Input/output error"
    assert json.loads((directory / "load.k1.json").read_text())["cycles"] == 16


def test_a_full_stick_ends_a_load_with_the_reason(lab):
    full = "load.k1={kind='write', disk='stick', file='w', idle='10ms', block='1MiB'}"
    run = lab.run(SPEC, full, "may_fail=['k1']", "disk.stick.up=1000s")
    assert (run.load("k1").end, run.load("k1").error) == ("failed", "No space left on device")
    assert run.load("k2").end == "stopped"


def test_a_phase_applies_its_settings_at_its_time(lab):
    warm = "load.k2={kind='read', disk='stays', file='r', size='64KiB', idle='50ms', order='sequential', cache='warm'}"
    phases = ("phase.cold={at='4s', sysctl={'vm.drop_caches'=3}}", "phase.cold.disk.stays.queue.nr_requests=8")
    run = lab.run(SPEC, warm, "may_fail=['k1']", *phases)
    item = run.load("k2")
    at_s = (item.starts_ns[item.pauses_ns > 500_000] - run.zero_ns) / S
    assert len(at_s) >= 1
    assert np.all((at_s > 3.9) & (at_s < 5))


def test_a_failing_phase_is_named_and_fails_the_run(lab):
    reason, _ = fails(lab, "phase.odd={at='1s', disk={stays={queue={nr_requests='many'}}}}")
    assert reason == "cannot set phase.odd.disk.stays.queue.nr_requests to 'many' in the guest: Invalid argument"
