"""The plan of a comparison: a cell for each spec and kernel, and what a resumed study reads back."""

import json
from dataclasses import replace

import pytest
from support.compared import FULL, asked, planned

from wblab.core.errors import InputError
from wblab.lab.formats import LOOKS
from wblab.study.designs.ab.plan import STANDARD, asked_of, digest, pairs
from wblab.study.plan import Plan


def test_each_spec_runs_on_both_kernels_with_the_same_seeds():
    plan = planned(asked("7.2", "7.3"), STANDARD, 34)
    assert [cell.name for cell in plan.cells[:4]] == ["base-a", "base-b", "base-device-a", "base-device-b"]
    assert [cell.spec.kernel.build for cell in plan.cells[:2]] == ["7.2", "7.3"]
    assert plan.about[LOOKS] == 6  # 3, 5, 8, 13, 21, 34: wblab compare corrects for them too
    assert len(plan.cells) == 2 * len(STANDARD)
    alike = [replace(cell.spec, name="", kernel="") for cell in plan.cells[:2]]
    assert alike[0] == alike[1]


def test_a_plan_survives_its_file():
    of = asked("7.2", "7.3", differs=FULL)
    plan = planned(of)
    again = Plan.from_json(json.loads(json.dumps(plan.to_json())))
    assert asked_of(again) == of
    assert [pair.before.name for pair in pairs(again, of)] == ["base-a"]


def test_a_damaged_plan_is_refused():
    plan = planned(asked("7.2", "7.3"))
    about = json.loads(json.dumps(plan.to_json()))["about"]
    about["ab"]["steps"][0]["after"] = 7
    with pytest.raises(InputError, match="damaged"):
        asked_of(replace(plan, about=about))
    with pytest.raises(InputError, match="must be a table"):
        asked_of(replace(plan, about={}))


def test_steps_share_the_runs_of_the_state_between_them():
    of = asked("a", "b", "c")
    plan = planned(of)
    assert [cell.name for cell in plan.cells] == ["base-0", "base-1", "base-2"]
    assert [(pair.before.name, pair.after.name) for pair in pairs(plan, of)] == [
        ("base-0", "base-1"),
        ("base-1", "base-2"),
    ]


def test_of_many_steps_those_that_keep_the_program_are_not_run():
    of = asked("a", "b", "c", programs="xxy")
    plan = planned(of)
    assert [cell.name for cell in plan.cells] == ["base-1", "base-2"]
    assert [pair.number for pair in pairs(plan, of)] == [1]
    alone = asked("a", "b", programs="xx")
    assert len(pairs(planned(alone), alone)) == 1  # one step shows that runs repeat


def test_a_digest_depends_on_the_spec_alone():
    one, other = planned(asked("7.2", "7.3")).cells
    assert digest(one.spec) == digest(replace(other.spec, seed=9))
    assert digest(one.spec) != digest(replace(one.spec, memory=1 << 30))


def test_two_specs_of_one_name_are_refused():
    with pytest.raises(InputError, match="give each once"):
        planned(asked("7.2", "7.3"), ("base", "base"))
