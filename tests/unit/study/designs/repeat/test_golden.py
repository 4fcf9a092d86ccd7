import pytest

from wblab.core.errors import InputError
from wblab.lab.places import ROOT
from wblab.study.designs.repeat import golden as module
from wblab.study.designs.repeat.golden import Golden, judge, noted, read_golden, write_golden

INPUTS = {name: f"{name} 1" for name in (*module._OURS, *module._MACHINES, "the processor")}
OURS, MACHINES = "the guest's program", "the compiler"
FIRST = Golden("Debian 12", "d1", INPUTS)
SECOND = Golden("Debian 13", "d2", INPUTS | {MACHINES: "another", "Python": "another"})


def test_the_same_digest_is_the_same_whatever_differs():
    verdict = judge([FIRST, SECOND], Golden("here", "d2", INPUTS | {MACHINES: "a third"}))
    assert verdict.same
    assert verdict.nearest == SECOND
    assert str(verdict) == "the same as on Debian 13, with the compiler and Python not the same"
    assert str(judge([FIRST], Golden("here", "d1", INPUTS))) == "the same as on Debian 12"


def test_another_digest_on_a_machine_that_differs_is_excused_and_says_in_what():
    verdict = judge([SECOND, FIRST], Golden("here", "d3", INPUTS | {MACHINES: "a third"}))
    assert (verdict.same, verdict.excused) == (False, True)
    assert str(verdict) == "not the same as on Debian 12, with the compiler not the same"


def test_another_digest_where_nothing_differs_is_not():
    verdict = judge([FIRST, SECOND], Golden("here", "d3", INPUTS))
    assert not verdict.same
    assert not verdict.excused
    assert "nothing that it depends on differs" in str(verdict)


@pytest.mark.parametrize("also", [{}, {MACHINES: "a third"}])
def test_nor_where_the_lab_itself_has_changed(also):
    verdict = judge([FIRST], Golden("here", "d3", INPUTS | {OURS: "changed"} | also))
    assert not verdict.excused
    assert OURS in str(verdict)


def test_where_none_is_noted_it_is_said_what_to_do():
    with pytest.raises(InputError, match="wblab golden --update"):
        judge([], Golden("here", "d1", INPUTS))


def test_one_is_noted_beside_those_of_other_machines():
    new = Golden("Debian 12", "d3", INPUTS)
    assert noted([SECOND, FIRST], new) == [new, SECOND]


def test_those_of_an_older_lab_cannot_be_had_any_more():
    new = Golden("Debian 13", "d3", INPUTS | {OURS: "changed"})
    assert noted([FIRST, SECOND], new) == [new]


def test_it_comes_back_from_its_file(tmp_path):
    path = tmp_path / "golden.json"
    assert read_golden(path) == []
    write_golden([FIRST, SECOND], path)
    assert read_golden(path) == [FIRST, SECOND]


def test_the_lab_brings_golden_runs_with_all_that_they_depend_on():
    assert read_golden()
    for one in read_golden():
        assert set(one.inputs) == set(INPUTS)
        assert str(ROOT) not in str(one)
