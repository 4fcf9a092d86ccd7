"""A target of the trial: the cells on its filesystem, impossible cells, and its rows."""

from dataclasses import replace

import numpy as np
import pytest
from support.trials import pretended, small_trial

from wblab.claims.atlas import content
from wblab.claims.atlas.target import FILESYSTEMS, Target
from wblab.claims.atlas.triedtarget import planned, rows_of
from wblab.claims.trial.judged import judged
from wblab.claims.trial.result import TrialResult, rows
from wblab.core.check import check_spec
from wblab.core.errors import InputError, WblabError

DEFAULT = ("default", "as it is")
NO_COMMIT = "disk.mount_options: unknown option 'commit=30'"


class Kernel:
    def __init__(self, build_id="b" * 40):
        self.build_id = build_id

    def describe(self):
        return {"release": "7.2.11", "build_id": self.build_id}


@pytest.fixture
def plan_of():
    """Return a function that plans a target for the kernel of a build. recommendations: a file other than the lab's."""

    def plan(filesystem, seeds=3, build_id="b" * 40, prepare=lambda spec, resolve: check_spec(spec), **keys):
        return planned(Target("7.2", filesystem, "trial"), seeds, lambda name: Kernel(build_id), prepare, **keys)

    return plan


@pytest.fixture
def small(tmp_path):
    """The file of a small trial."""
    return small_trial(tmp_path)


def refusing(is_unfit, reason):
    """Return what refuses all specs with a property, with a reason."""

    def prepare(spec, resolve):
        if is_unfit(spec):
            raise InputError(reason)

    return prepare


def around(mean, seed):
    return (mean * np.exp(np.random.default_rng(seed).normal(0, 0.02, 3))).tolist()


def test_scenarios_get_the_filesystem_except_for_a_stick(plan_of):
    for filesystem in FILESYSTEMS:
        specs = [cell.spec for cell in plan_of(filesystem).plan.cells if cell.levels["scenario"] != "asked"]
        found = {(name, disk.filesystem) for spec in specs for name, disk in spec.disk.items()}
        assert found == {("stick", "vfat")} | {(name, filesystem) for name in ("disk", "slow", "fast", "own")}
        for spec in specs:
            check_spec(spec)


def test_the_requested_number_of_runs_is_made(plan_of):
    cells = plan_of("xfs", 3).plan.cells
    assert plan_of("xfs", 2).plan.seeds == (1, 2)
    assert len(cells) == 335
    assert {cell.spec.kernel.build for cell in cells} == {"7.2"}


def test_another_input_of_the_verdicts_makes_another_target(plan_of, monkeypatch, small):
    first = plan_of("xfs").made_of
    assert plan_of("xfs").made_of == first
    found = {first, plan_of("ext4").made_of, plan_of("xfs", 4).made_of}
    found |= {plan_of("xfs", build_id="c" * 40).made_of, plan_of("xfs", recommendations=small).made_of}
    monkeypatch.setattr(content, "code_of", lambda *rooms: "another judge")
    found.add(plan_of("xfs").made_of)
    assert len(found) == 6


def test_impossible_runs_are_left_out_with_the_reason(plan_of, small):
    prepare = refusing(lambda spec: any(disk.queue.get("wbt_lat_usec") for disk in spec.disk.values()), "no WBT here")
    plan = plan_of("xfs", prepare=prepare, recommendations=small)
    assert plan.unfit == {("small", "2b"): "no WBT here"}
    assert "2b" not in {cell.levels["recommendation"] for cell in plan.plan.cells}
    assert list(plan.wisdom.scenario) == ["small"]


def test_if_the_default_cannot_run_nothing_is_run(plan_of, small, tmp_path):
    prepare = refusing(lambda spec: spec.disk["disk"].filesystem == "f2fs", "missing: mkfs.f2fs")
    plan = plan_of("f2fs", prepare=prepare, recommendations=small)
    assert set(plan.unfit.values()) == {"missing: mkfs.f2fs"}
    assert plan.wisdom.scenario == {}
    found = plan.fill(tmp_path, 1)
    assert [(row.name, row.verdict, row.why, row.link) for row in found] == [
        (name, "not testable", "missing: mkfs.f2fs", "") for name in ("1", "1", "2a")
    ]
    assert not (tmp_path / "runs").exists()


@pytest.fixture
def found(plan_of, small, tmp_path):
    """Return a plan and its outcomes: 1 helps when scaled by seconds, and 2a harms."""
    plan = plan_of("xfs", recommendations=small)
    pauses = {DEFAULT: around(2.0, 0), ("1", "by seconds"): around(0.5, 1), ("2a", "by memory"): around(4.0, 3)}
    measured = pretended(plan.wisdom, plan.plan, tmp_path, pauses)
    return plan, judged(measured, plan.plan.cells, looks=1)


def test_rows_agree_with_the_trial_s_report(found):
    plan, tried = found
    first, second, third = rows_of(rows(tried, plan.wisdom), plan.wisdom, {})
    assert (first.name, first.about, first.says) == ("1", "A: 600 MiB", "shorter")
    assert (first.verdict, first.link) == ("not reproduced", "report.html#recommendation-1")
    assert (first.figure, first.why, first.seeds) == ("×1 on small, by memory", "reproduced in 1 of 2 scenarios", "3")
    assert (second.verdict, third.verdict) == ("not reproduced", "harms")
    assert third.figure.startswith("light writers' longest pause ×")


def test_a_scenario_without_pauses_is_reported(plan_of, small, tmp_path):
    plan = plan_of("xfs", recommendations=small)
    measured = pretended(plan.wisdom, plan.plan, tmp_path, {DEFAULT: [0.01] * 3})
    first, second, _ = rows_of(rows(judged(measured, plan.plan.cells), plan.wisdom), plan.wisdom, {})
    assert (first.verdict, first.link) == ("not testable", "")
    assert first.why == "nothing to shorten: with the default no pause exceeds 0.1 s"
    assert second.verdict == "reproduced"


def test_if_no_run_succeeds_the_reason_is_given(found):
    plan, tried = found
    failed = [replace(item, failed="it panicked") if item.key == "1" else item for item in tried]
    first, *_ = rows_of(rows(failed, plan.wisdom), plan.wisdom, {})
    assert first.verdict == "not testable"
    assert first.why == "no run succeeded on small, by memory: it panicked"


def test_omitted_scenarios_are_reported(found):
    plan, tried = found
    unfit = {("other", "1"): "no disk", ("asked", "1"): "never shown", ("other", "2a"): "not of this value"}
    first, *_ = rows_of(rows(tried, plan.wisdom), plan.wisdom, unfit)
    assert first.why.endswith("reproduced in 1 of 2 scenarios; not on other: no disk")


def test_a_target_resumes_and_keeps_only_records(found, tmp_path):
    plan, tried = found
    made = []

    def interrupted(store, wisdom, at_once):
        for name in ("a-s1", "_b-s1"):
            (store.runs / name).mkdir()
            (store.runs / name / "experiment.json").write_text("{}")
            (store.runs / name / "trace.dat").write_text("")
        raise WblabError("interrupted")

    def finished(store, wisdom, at_once):
        made.extend(path.name for path in store.runs.iterdir())

    def judge(store, wisdom):
        return TrialResult(plan.wisdom, tuple(tried), {}, Kernel().describe(), 19, 3)

    with pytest.raises(WblabError, match="interrupted"):
        plan.fill(tmp_path, 1, interrupted)
    assert len(plan.fill(tmp_path, 1, finished, judge)) == 3
    assert made == ["a-s1"]  # the failed run is tried again
    plan.prune(tmp_path)
    assert [path.name for path in (tmp_path / "runs" / "a-s1").iterdir()] == ["experiment.json"]
    text = (tmp_path / "report.html").read_text()
    assert "Linux 7.2.11 on xfs" in text
    assert 'id="recommendation-2a"' in text
