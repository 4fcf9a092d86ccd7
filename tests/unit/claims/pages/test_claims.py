"""The forms of the results of claims and recommendations are made from verdicts, and from a trial."""

import re

import numpy as np
import pytest
from support.trials import pretended, small_trial

from wblab.claims.pages.claims import short_claims, short_trial, whole_claims, whole_trial
from wblab.claims.pages.forms import WHOLE
from wblab.claims.pages.kept import read_claims, read_trial, trial, verified, write_claims, write_trial
from wblab.claims.trial.judged import judged
from wblab.claims.trial.plan import trial_matrix
from wblab.claims.trial.recommendations import read_wisdom
from wblab.claims.trial.result import TrialResult
from wblab.core.errors import WblabError
from wblab.lab.formats import VERIFICATION
from wblab.lab.places import ROOT

KERNEL = {"release": "7.2.11", "build_id": "d8fbc28a1c03dc5fab"}
EFFECT = {
    "what": "a | b",
    "spread": "mean",
    "unit": "s",
    "values": [1.0, 2.0, 4.0],
    "middle": 2.0,
    "low": 1.0,
    "high": 4.0,
}


def claim(name, verdict, effect=None, why="it needs *two* processors"):
    return {"name": name, "verdict": verdict, "why": why, "effect": effect}


def found(work, *claims):
    return verified(VERIFICATION.head() | {"work": work, "kernel": KERNEL, "seeds": 3, "claims": list(claims)})


NEVER = EFFECT | {"values": [None], "middle": None, "low": None, "high": None}
HELD = claim("pauses-l1-ext2", "reproduced", EFFECT, "Expected: at most 4 s; met by 3 of 3 seeds")
LI = found("li", claim("L1-no-lock", "not testable"))
THESIS = found("thesis", HELD, claim("pauses-l1-ext4", "not decided", NEVER))


def test_works_stand_in_their_order_with_a_row_for_each_claim(tmp_path):
    write_claims([LI], tmp_path / "claims.json")
    write_claims([THESIS], tmp_path / "claims.json")  # the other work stays
    kept = read_claims(tmp_path / "claims.json")
    assert kept == [THESIS, LI]
    text = whole_claims(kept)
    head = "`wblab study thesis`, Linux 7.2.11, kernel build `d8fbc28a1c03dc5f`, 3 seeds: "
    assert f"{head}1 reproduced, 1 not decided." in text
    l1 = "l1 has pauses of several seconds"
    assert f"| `pauses-l1-ext2`: {l1} | reproduced | 2 s (1 to 4) | a \\| b. Expected: at most 4 s |" in text
    assert f"| `pauses-l1-ext4`: {l1} | not decided | never | a \\| b. it needs \\*two\\* processors |" in text
    assert "take resync\\_lock | not testable |  | it needs \\*two\\* processors |" in text


def test_the_short_form_says_what_is_not_so_and_names_all_others():
    wrong = [
        claim("pauses-l1-ext2", "not reproduced"),
        claim("pauses-l1-ext4", "harms"),
        claim("fills-ext4", "reproduced"),
    ]
    text = short_claims([found("thesis", *wrong)])
    assert "- ○ `pauses-l1-ext2`, `pauses-l1-ext4`: l1 has pauses of several seconds\n" in text
    assert "- ● reproduced: `fills-ext4`\n" in text
    every = short_claims([THESIS])
    assert all(f"`{row.name}`" in every for row in THESIS.rows)


def test_results_of_a_claim_that_no_work_makes_are_refused():
    with pytest.raises(WblabError, match="run make results"):
        whole_claims([found("li", claim("L99", "reproduced"))])


def test_the_intervals_that_the_explanation_cites_are_those_of_the_results():
    prose = re.sub(r"\s+", " ", (ROOT / "docs/explanation/claims.md").read_text())
    cited = set(re.findall(r"\([\d.]+ to [\d.]+\)", prose))
    assert cited
    assert not {interval for interval in cited if interval not in WHOLE["claims"]()}


@pytest.fixture
def tried(tmp_path):
    wisdom = read_wisdom(small_trial(tmp_path))
    plan = trial_matrix(wisdom, 3)
    rng = np.random.default_rng(1)
    pauses = {("default", "as it is"): (2 * np.exp(rng.normal(0, 0.02, 3))).tolist()}
    found = judged(pretended(wisdom, plan, tmp_path, pauses), plan.cells, looks=1)
    return trial(TrialResult(wisdom, tuple(found), {}, KERNEL, 1234, 3))


def test_each_expectation_has_a_row_with_its_verdict(tried, tmp_path):
    write_trial(tried, tmp_path / "trial.json")
    assert read_trial(tmp_path / "trial.json") == tried
    rows = [line.split(" | ") for line in whole_trial(tried).splitlines() if line.startswith("| ")][1:]
    assert [row[0] for row in rows] == ["| 1", "| ", "| 2a", "| 2b"]
    assert rows[0][1:3] == ["A: 600 MiB", "shorter"]
    assert all(len(row) == 7 for row in rows)


def test_both_forms_count_runs_and_verdicts(tried):
    for text in (short_trial(tried), whole_trial(tried)):
        assert "1,234 runs, up to\n3 seeds" in text
        assert "build `d8fbc28a1c03dc5f`" in text
        assert "Of\n3 expectations: " in text
    rows = [line.split(" | ")[0] for line in short_trial(tried).splitlines() if line.startswith("| ")]
    assert rows == ["| ", "| 1", "| 2a", "| 2b"]
