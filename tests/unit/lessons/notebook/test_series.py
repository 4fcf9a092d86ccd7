"""What a look at the runs of all specs and seeds shows."""

import json
import re

import pytest
from support.pages import words
from support.runs import MS, write_run

from wblab.analysis.runs.run import read_run
from wblab.core.errors import InputError
from wblab.lab.formats import EXPERIMENT
from wblab.lessons.notebook.looks import SERIES
from wblab.lessons.sections import SectionLook

COMPARE = SectionLook("compare", load="mw1", metric="longest_pause_s", by="disk.scheduler")


def seeds(directory, pauses_ms, **disk):
    """Return runs of a spec with a seed each."""
    runs = []
    for seed, pause_ms in enumerate(pauses_ms, 1):
        path = write_run(directory / str(seed), {"c1": [0, 50 * MS], "mw1": [0, 100 * MS, (200 + pause_ms) * MS]})
        content = json.loads((path / EXPERIMENT).read_text())
        content["spec"]["seed"] = seed
        content["spec"]["disk"] |= disk
        (path / EXPERIMENT).write_text(json.dumps(content))
        runs.append(read_run(path))
    return runs


@pytest.fixture
def runs(tmp_path):
    return {
        "spec.toml": seeds(tmp_path / "spec", [1010, 1020, 1030, 1020, 1020], scheduler="none"),
        "<b>.toml": seeds(tmp_path / "bfq", [520, 510, 530, 510], scheduler="bfq"),
    }


def test_pauses_of_one_seed_stand_below_each_other(runs):
    shown = SERIES["seeds"](runs, SectionLook("seeds", load="mw1"))
    title, heads, first, second = (re.split("  +", line) for line in shown.text.splitlines())
    assert title == ["Longest pause of mw1 in each run"]
    assert heads == ["spec", "seed 1", "seed 2", "seed 3", "seed 4", "seed 5"]
    assert first == ["spec.toml", "1.01 s", "1.02 s", "1.03 s", "1.02 s", "1.02 s"]
    assert second == ["<b>.toml", "0.52 s", "0.51 s", "0.53 s", "0.51 s", "-"]
    assert "<b>" not in shown.html


def test_an_unknown_load_is_refused(runs):
    with pytest.raises(InputError, match="no load 'mw2'"):
        SERIES["seeds"](runs, SectionLook("seeds", load="mw2"))


def test_a_comparison_is_what_the_verb_says(runs):
    shown = SERIES["compare"](runs, COMPARE)
    answer, _, first, *_ = shown.text.splitlines()
    assert first == "disk.scheduler: bfq against none, 4 to 5 runs each."
    assert answer.startswith("mail mw1's longest pause is 502 ms less with disk.scheduler=bfq, which is better: ")
    assert "Groups: each group against the first" in shown.text
    assert "less: better" in words(shown.html)
    assert "tests of means and of ranks" in shown.html


def test_where_runs_do_not_differ_yet_it_says_so(runs):
    shown = SERIES["compare"]({"spec.toml": runs["spec.toml"]}, COMPARE)
    assert shown.text == "No two of your runs differ in disk.scheduler yet. Change it, and press Check."
