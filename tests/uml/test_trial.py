"""wblab study with real runs: short runs of a few recommendations, some of which are deleted and made again."""

import json
import shutil

import pytest
from support.trials import short_scenario

from wblab.cli import main

EVENTS = '["writeback:balance_dirty_pages", "writeback:writeback_start"]'
SHORT = (
    short_scenario('trace.blame="never"', f"trace.events={EVENTS}")
    + """
[[recommendation]]
number = 1
who = "Somebody"
source = "somewhere"
says = "little may be dirty, and the timers are off"
[[recommendation.value]]
name = "limit 0 and 40 MiB, background 10 % and 20 MiB"
[recommendation.value.sysctl]
"vm.dirty_bytes" = 0
"vm.dirty_background_ratio" = 10
"vm.dirty_background_bytes" = "20MiB"
"vm.dirty_writeback_centisecs" = 0
[[recommendation.expectation]]
says = "nobody is stalled for over an hour"
role = "innocent"
metric = "longest_pause_s"
at_most = "1h"
[[recommendation.expectation]]
says = "the flusher's timer is off"
role = "offender"
metric = "periodic_writebacks"
at_most = 0
[[recommendation.expectation]]
says = "no task has to sleep for over 200 ms"
role = "innocent"
metric = "asked_sleep_s"
at_most = "200ms"
"""
)


@pytest.fixture
def trial(lab, tmp_path, capsys):
    """Run the verb, and return its exit code and the printed JSON."""

    def run(*arguments: str):
        code = main(["study", *arguments, "--exp", str(lab.results), "--jobs", "2", "--json"])
        said = capsys.readouterr()
        return code, json.loads(said.out) if said.out else said.err

    return run


def test_a_trial_runs_end_to_end_and_remakes_missing_runs(lab, trial, tmp_path):
    (tmp_path / "short.toml").write_text(SHORT)
    given = (str(tmp_path / "short.toml"), "--seeds", "3", "--kernel", str(lab.kernel.path))
    code, said = trial(*given)
    assert code == 0
    directory = next(lab.results.iterdir())
    verdicts = {expectation["says"]: expectation["verdict"] for expectation in said["expectations"]}
    assert set(verdicts.values()) == {"reproduced"}, verdicts
    assert said["asked"]["1"]["refused"] == ["vm.dirty_bytes"]
    assert said["asked"]["1"]["now"] == {
        "vm.dirty_bytes": 0,
        "vm.dirty_background_ratio": 0,  # cleared by the bytes, which come later
        "vm.dirty_background_bytes": 20 << 20,
        "vm.dirty_writeback_centisecs": 0,
    }
    assert said["runs"] == 3 * 3 + 1
    assert "data:image/png;base64," in (directory / "report.html").read_text()

    runs = sorted(path.name for path in (directory / "runs").iterdir())
    kept = {path.name: path.stat().st_mtime_ns for path in (directory / "runs").iterdir()}
    lost = next(name for name in runs if name.endswith("by-memory-s2"))
    shutil.rmtree(directory / "runs" / lost)
    code, again = trial("--resume", str(directory), "--kernel", str(lab.kernel.path))
    assert code == 0
    assert sorted(path.name for path in (directory / "runs").iterdir()) == runs
    changed = [path.name for path in (directory / "runs").iterdir() if path.stat().st_mtime_ns != kept[path.name]]
    assert changed == [lost]
    assert again == said
    assert lab.left_behind() == []


def test_a_trial_resumes_with_its_original_options(trial):
    code, said = trial("8", "--resume", "anywhere")
    assert code == 2
    assert "leave WHAT out" in said
