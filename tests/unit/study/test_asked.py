"""What a program asks of a study, and what a study says of runs that failed."""

from pathlib import Path

import pytest

from wblab.core.errors import InputError, WblabError
from wblab.study.asked import Failures, StudyAnswer, StudyRequest, asked_for
from wblab.study.plan import Shard


def test_texts_stand_for_numbers_and_for_lists_of_one():
    asked = asked_for(
        {"what": "remedies", "seeds": "3", "jobs": 2, "kernel": "7.2", "shard": "1/4"}, results=Path("exp")
    )
    wanted = StudyRequest(results=Path("exp"), what="remedies", seeds=3, jobs=2, kernel=("7.2",), shard=Shard(1, 4))
    assert asked == wanted
    assert asked_for({"set": ["seed=2", "memory=1GiB"]}, results=Path()).settings == ("seed=2", "memory=1GiB")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"sed": 3}, r"no option 'sed' of a study \(did you mean 'seeds'\?\)"),
        ({"note": print}, "no option 'note' of a study"),
        ({"jobs": "many"}, "an option of the study is not understood"),
        ({"kernel": 7.2}, "an option of the study is not understood"),
        ({"shard": "5/4"}, "5/4 is no part"),
        ({"keep": "all"}, "keep: 'all' is not one of traces, digests, failing"),
    ],
)
def test_what_is_not_understood_is_refused(options, said):
    with pytest.raises(InputError, match=said):
        asked_for(options, results=Path())


def test_of_many_failures_the_first_are_told_and_all_are_counted():
    runs = [{"cell": f"c{number}", "seed": 1, "reason": "the guest died"} for number in range(23)]
    found = Failures(runs, 40, Path("exp/s/runs"), "wblab study --resume exp/s")
    assert found.lines[0] == "failed: c0, seed 1: the guest died"
    assert (len(found.lines), found.lines[-1]) == (21, "and 3 more, in exp/s/runs/_*")
    with pytest.raises(WblabError, match="23 of 40 runs failed: try again with wblab study --resume exp/s"):
        StudyAnswer(Path("exp/s"), failures=found).check()
    StudyAnswer(Path("exp/s")).check()
