import pytest

from wblab.core.errors import InputError
from wblab.lab.places import ROOT
from wblab.study.designs.audit import golden as module
from wblab.study.designs.audit.golden import Golden, judge, noted, read_golden, write_golden

INPUTS = {name: f"{name} 1" for name in (*module._OF_CHECKOUT, *module._OF_MACHINE, "the processor")}
OF_CHECKOUT, OF_MACHINE = "the guest's program", "the compiler"
FIRST = Golden("Debian 12", "d1", INPUTS)
SECOND = Golden("Debian 13", "d2", INPUTS | {OF_MACHINE: "another", "Python": "another"})


def test_equal_digests_are_identical_even_if_inputs_differ():
    verdict = judge([FIRST, SECOND], Golden("here", "d2", INPUTS | {OF_MACHINE: "a third"}))
    assert verdict.same
    assert verdict.nearest == SECOND
    assert str(verdict) == "identical to the run on Debian 13, with other inputs: the compiler, Python"
    same = judge([FIRST], Golden("here", "d1", INPUTS))
    assert str(same) == "identical to the run on Debian 12, with the same inputs"


def test_different_digest_is_excused_by_a_different_machine():
    verdict = judge([SECOND, FIRST], Golden("here", "d3", INPUTS | {OF_MACHINE: "a third"}))
    assert (verdict.same, verdict.excused) == (False, True)
    assert str(verdict) == "different from the run on Debian 12, with other inputs: the compiler"


def test_different_digest_with_equal_inputs_is_not_excused():
    verdict = judge([FIRST, SECOND], Golden("here", "d3", INPUTS))
    assert not verdict.same
    assert not verdict.excused
    assert str(verdict) == "different from the run on Debian 12, with the same inputs"


@pytest.mark.parametrize("also", [{}, {OF_MACHINE: "a third"}])
def test_different_digest_is_not_excused_by_a_changed_lab(also):
    verdict = judge([FIRST], Golden("here", "d3", INPUTS | {OF_CHECKOUT: "changed"} | also))
    assert not verdict.excused
    assert OF_CHECKOUT in str(verdict)


def test_error_without_golden_runs_names_the_command():
    with pytest.raises(InputError, match="wblab repeat golden --update"):
        judge([], Golden("here", "d1", INPUTS))


def test_new_run_replaces_only_its_machines_run():
    new = Golden("Debian 12", "d3", INPUTS)
    assert noted([SECOND, FIRST], new) == [new, SECOND]


def test_runs_of_other_processors_are_kept():
    intel, amd = (Golden("Debian 12", "d1", INPUTS | {"the processor": cpu}) for cpu in ("Intel", "AMD"))
    assert noted([intel], amd) == [amd, intel]
    assert noted([intel, amd], Golden("Debian 12", "d4", amd.inputs))[0].digest == "d4"
    assert len(noted([intel, amd], amd)) == 2


def test_runs_of_an_older_lab_are_dropped():
    new = Golden("Debian 13", "d3", INPUTS | {OF_CHECKOUT: "changed"})
    assert noted([FIRST, SECOND], new) == [new]


def test_golden_runs_survive_write_and_read(tmp_path):
    path = tmp_path / "golden.json"
    assert read_golden(path) == []
    write_golden([FIRST, SECOND], path)
    assert read_golden(path) == [FIRST, SECOND]


def test_golden_runs_of_the_lab_record_all_inputs():
    assert read_golden()
    for one in read_golden():
        assert set(one.inputs) == set(INPUTS)
        assert str(ROOT) not in str(one)
