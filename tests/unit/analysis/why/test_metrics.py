"""The paused time by cause, as metrics of runs and of groups of runs."""

import json

import pytest
from support.blametraces import Story
from support.runs import MS, write_run

from wblab.analysis.runs.metrics import load_metrics, metric_rows, with_zeros
from wblab.analysis.runs.run import read_run
from wblab.analysis.why.explain import explain
from wblab.analysis.why.explanations import cause_metrics
from wblab.analysis.why.recorded import read_recorded
from wblab.cli import main
from wblab.lab.formats import EXPERIMENT

from .test_explain import COMMS, NAP, NAP_ENDS, SHADOW, SHADOW_ENDS, THROTTLED, TIMER, blocked


@pytest.fixture
def make(tmp_path):
    """Return a function that makes a run of mw1: in each cycle a wait (a sleep, a wake-up, ms), then 100 ms idle."""

    def write(name, rounds, **record):
        story, at, boundaries = Story(COMMS), 0, [0]
        for waits in rounds:
            for sleep, wake, ms in (*waits, (NAP, NAP_ENDS, 100)):
                blocked(story, at, at + ms, sleep, wake)
                at += ms
            boundaries.append(at * MS)
        path = write_run(tmp_path / name, {"mw1": [story.start_ns + time for time in boundaries]}, **record)
        (path / "trace.dat").write_bytes(story.encode())
        return path

    return write


def of_scheduler(path, scheduler, seed):
    """Give a run this scheduler and seed."""
    content = json.loads((path / EXPERIMENT).read_text())
    content["spec"]["seed"], content["spec"]["disk"]["scheduler"] = seed, scheduler
    (path / EXPERIMENT).write_text(json.dumps(content))
    return str(path)


def test_causes_add_up_to_all_pauses_of_a_load(make):
    run = read_run(make("run", [[(SHADOW, SHADOW_ENDS, 600)], [(THROTTLED, TIMER, 20)], [(SHADOW, TIMER, 5)], []]))
    causes = cause_metrics(run)["mw1"]
    assert causes == {
        "paused_journal_writes_block_s": 0.6,
        "paused_throttled_s": 0.02,
        "paused_unknown_s": 0.005,
    }
    assert sum(causes.values()) == pytest.approx(load_metrics(run.load("mw1"))["paused_s"])
    parts = [item.parts for item in explain(run, read_recorded(run), bound_ns=0)]
    assert sum(part.get("throttled", 0) for part in parts) == 20 * MS


def test_the_unknown_part_always_has_a_metric(make):
    run = read_run(make("run", [[(SHADOW, SHADOW_ENDS, 600)]]))
    assert cause_metrics(run)["mw1"]["paused_unknown_s"] == 0


def test_a_run_that_did_not_record_its_causes_has_none(make, tmp_path):
    bare = read_run(write_run(tmp_path / "bare", {"mw1": [0, 700 * MS]}))
    assert cause_metrics(bare) == {}
    told = metric_rows(read_run(make("told", [[(THROTTLED, TIMER, 600)]])), cause_metrics)
    without, with_causes = with_zeros([metric_rows(bare, cause_metrics), told])
    assert with_causes == told
    assert "paused_throttled_s" not in {metric for _, _, metric, _ in without}
    assert [metric for _, _, metric, _ in told][-2:] == ["paused_throttled_s", "paused_unknown_s"]


def test_a_cause_of_only_another_run_is_0(make):
    waits = {"one": (THROTTLED, TIMER, 600), "other": (SHADOW, SHADOW_ENDS, 400)}
    runs = with_zeros(metric_rows(read_run(make(name, [[wait]])), cause_metrics) for name, wait in waits.items())
    found = [{metric: value for _, _, metric, value in rows}["paused_throttled_s"] for rows in runs]
    assert found == [0.6, 0]
    for rows in runs:
        assert len({(load, metric) for load, _, metric, _ in rows}) == len(rows)
        assert {kind for _, kind, _, _ in rows} == {"multiwrite"}


def test_groups_are_compared_by_cause_on_request(make, capsys):
    waits = {"none": (SHADOW, SHADOW_ENDS), "bfq": (THROTTLED, TIMER)}
    runs = [
        of_scheduler(make(f"{name}-{seed}", [[(*wait, 600 + 10 * seed)]]), name, seed)
        for name, wait in waits.items()
        for seed in (1, 2, 3, 4, 5)
    ]
    assert main(["compare", *runs, "--causes"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any("paused journal writes block" in line and "less: better" in line for line in lines)
    assert any("paused throttled" in line and "more: worse" in line for line in lines)
    assert main(["compare", *runs]) == 0
    assert "throttled" not in capsys.readouterr().out


def test_causes_are_refused_for_runs_that_recorded_none(tmp_path, capsys):
    runs = [
        of_scheduler(write_run(tmp_path / name, {"mw1": [0, 700 * MS]}), name, seed)
        for seed, name in enumerate(("none", "bfq"))
    ]
    assert main(["compare", *runs, "--causes"]) == 2
    assert "no run recorded the causes of its pauses" in capsys.readouterr().err
