"""The effect of a change: on the pause at hand, and on all pauses of the stalled loads. Rows survive JSON."""

import json

import pytest
from support.runs import MS, S, write_run

from wblab.analysis.runs.run import read_run
from wblab.analysis.why.explain import Explanation
from wblab.core.errors import InputError
from wblab.study.designs.prove.effect import ChangeEffect, RunPauses, effect, row_of

BOUND_NS = 300 * MS
PAUSE = Explanation("w1", 1, 10 * S, 20 * S, 10 * S, {}, (), ())
KNOWN = RunPauses(100 * S, -1, {"w1": ((10 * S, 20 * S, 10 * S),), "mw1": ((12 * S, 14 * S, 2 * S),)})


def of(*pauses, end_ns=30 * S, mw1=()):
    return effect(KNOWN, RunPauses(end_ns, -1, {"w1": pauses, "mw1": mw1}), PAUSE, ("w1", "mw1"), BOUND_NS)


@pytest.mark.parametrize(
    ("pauses", "of_pause", "of_all", "left_ns"),
    [
        ((), "ends", "ends", 0),
        (((10 * S, 20 * S, 10 * S),), "unchanged", "unchanged", 10 * S),
        (((11 * S, 15 * S, 4 * S),), "shortens", "shortens", 4 * S),
        (((11 * S, 18 * S, 7 * S),), "lessens", "lessens", 7 * S),
        (((10 * S, 24 * S, 14 * S),), "lengthens", "lengthens", 14 * S),
        (((25 * S, 34 * S, 9 * S),), "ends", "moves", 0),
        (((19 * S, 29 * S, 10 * S),), "ends", "moves", 1 * S),  # another pause, of which a second overlaps
    ],
)
def test_verdicts_on_the_pause_and_on_all(pauses, of_pause, of_all, left_ns):
    found = of(*pauses)
    assert (found.of_pause, found.of_all, found.pause_ns) == (of_pause, of_all, left_ns)


@pytest.mark.parametrize(
    ("left_s", "longest_s", "verdict"), [(0, 20, "ends"), (0, 19, "ends"), (0, 30, "moves"), (10, 1, "unchanged")]
)
def test_a_longer_pause_of_another_cause_may_stay_but_not_grow(left_s, longest_s, verdict):
    assert ChangeEffect(10 * S, BOUND_NS, left_s * S, longest_s * S, 20 * S).of_all == verdict


def test_a_pause_of_another_stalled_load_counts_for_a_remedy():
    assert of(mw1=((10 * S, 20 * S, 9 * S),)).of_all == "moves"


def test_a_pause_at_the_end_may_have_been_cut_short():
    assert of((25 * S, 30 * S, 5 * S)).is_cut
    assert not of((25 * S, 29 * S, 4 * S)).is_cut


def test_a_row_has_pauses_since_the_known_run_began_and_where_the_two_differ(tmp_path):
    def run(name, l1):
        return read_run(write_run(tmp_path / name, {"w1": [10 * S, 10 * S + 50 * MS, 13 * S], "l1": l1}))

    known = run("known", [10 * S, 15 * S, 20 * S])
    row = row_of(run("other", [10 * S, 15 * S, 19 * S]), known)
    assert row.cycles == {"w1": 2, "l1": 2}
    assert (row.pauses["w1"], row.differs_ns) == (((50 * MS, 3 * S, 2900 * MS),), 9 * S)
    assert row_of(known, known).differs_ns == -1
    assert RunPauses.from_json(json.loads(json.dumps(row.to_json()))) == row


@pytest.mark.parametrize(
    "value",
    [{}, {"end_ns": 1.5, "differs_ns": 0, "pauses": {}, "cycles": {}}, {"end_ns": 1, "pauses": []}],
)
def test_a_damaged_row_is_refused(value):
    with pytest.raises(InputError, match="it is not the row of a trial"):
        RunPauses.from_json(value)
