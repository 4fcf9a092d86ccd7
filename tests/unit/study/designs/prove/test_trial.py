"""Runs repeated with a change, and what is refused. The runs are synthetic."""

from dataclasses import replace

import pytest
from support.runs import MS, S, write_run

from wblab.analysis.runs.run import read_run
from wblab.analysis.why.explain import Explanation
from wblab.core.errors import InputError, WblabError
from wblab.study.designs.prove.change import StopLoad
from wblab.study.designs.prove.trial import Trial, acts_ns, begin_ns, changed_spec, suspects
from wblab.study.designs.prove.tried import left_out

START_NS = 10 * S
W1 = [START_NS + 20 * MS + time * MS for time in (0, 50, 5000, 5050)]
L1 = [START_NS + 30 * MS, START_NS + 1000 * MS, START_NS + 6000 * MS]
PAUSE = Explanation("w1", 1, 50 * MS, 5000 * MS, 4900 * MS, {}, (), ())


@pytest.fixture
def written(tmp_path):
    """Return a function that writes a run of w1, l1 and l2 with given boundaries."""

    def write(name, w1=W1, l1=L1, l2=(START_NS + 40 * MS, START_NS + 43 * S)):
        return read_run(write_run(tmp_path / name, {"w1": w1, "l1": l1, "l2": l2}))

    return write


def test_suspects_are_loads_that_wrote_before_the_pause_ended(written):
    run = written("a")
    assert suspects(run, replace(PAUSE, end_ns=6 * S)) == ["l1"]
    assert suspects(run, replace(PAUSE, end_ns=50 * S)) == ["l1", "l2"]
    assert suspects(run, PAUSE) == []  # l1 waits for 5 s


def test_a_load_that_prepares_itself_acts_before_its_first_cycle(written):
    """One that reads its file into memory, or takes all its memory, first."""
    late = written("a", w1=[START_NS + 2 * S, *W1[2:]])
    assert acts_ns(late, late.load("w1")) == START_NS
    assert suspects(late, replace(PAUSE, load="l2", end_ns=S)) == ["w1"]
    run = written("b")
    assert acts_ns(run, run.load("w1")) == W1[0]
    assert acts_ns(run, run.load("l1")) == L1[0] + run.load("l1").load.idle_ns(0)


def test_repeated_run_differs_only_in_the_suspect_and_its_end(written):
    run = written("a")
    made = []

    def make(specs):
        made.extend(specs)
        return [written("b", w1=[*W1[:2], W1[1] + 60 * MS, *W1[2:]])]

    found = Trial(run, PAUSE, make, 300 * MS).outcome(StopLoad("l1"), 11 * MS)
    (spec,) = made
    assert spec.load["l1"].until == 31 * MS  # the run's zero is 20 ms after the loads' start
    assert spec.time_limit == 20 * MS + 5 * S + S
    assert replace(spec, name="base", load=run.spec.load, time_limit=run.spec.time_limit) == run.spec
    assert (found.verdict, found.pause_ns) == ("unchanged", W1[2] - W1[1] - 60 * MS - 50 * MS)


def test_loads_left_out_are_stopped_one_after_the_other_before_each_begins(written):
    """Two that begin at nearly the same time must not meet: the guest takes 20 ms to stop one."""
    run = written("a", l2=(START_NS + 40 * MS, START_NS + 6 * S))
    first, second = (times for _, times in left_out(run, ["l1", "l2"]).loads)
    assert (first, second) == (4980 * MS, 42990 * MS)
    same = replace(run, loads=tuple(replace(item, load=run.load("l1").load) for item in run.loads))
    assert dict(left_out(same, ["l1", "l2"]).loads) == {"l1": 4940 * MS, "l2": 4990 * MS}
    assert left_out(run, ["w1"]).loads == (("w1", MS),)


def test_missing_pause_counts_as_gone(written):
    def make(specs):
        return [written("b", w1=[START_NS + 20 * MS + 50 * MS * number for number in range(102)])]

    assert Trial(written("a"), PAUSE, make, 300 * MS).outcome(StopLoad("l1"), 11 * MS).verdict == "gone"


def test_overlapping_pause_is_not_the_same_pause(written):
    """The other pause begins in the last second of the original one and lasts five seconds longer."""
    ends = [START_NS + 20 * MS + 50 * MS * number for number in range(80)]

    def make(specs):
        return [written("b", w1=[*ends, ends[-1] + 6 * S])]

    found = Trial(written("a"), PAUSE, make, 300 * MS).outcome(StopLoad("l1"), 11 * MS)
    assert (found.verdict, found.pause_ns, found.beside_ns) == ("gone", 0, 5950 * MS)


def test_difference_before_the_change_is_an_error(written):
    def make(specs):
        return [written("b", w1=[W1[0] + 1, *W1[1:]])]

    with pytest.raises(
        WblabError, match=r"proves nothing: it differs at 10\.020000 s, before the change at 11\.02\d+ s \(l1\): "
    ):
        Trial(written("a"), PAUSE, make, 300 * MS).outcome(StopLoad("l1"), 1000 * MS)


def test_unknown_suspect_is_refused(written):
    with pytest.raises(InputError, match="no load 'l3': the run has"):
        changed_spec(written("a"), StopLoad("l3"), S, S)


def test_run_in_real_time_is_refused(written):
    run = written("a")
    real = replace(run, spec=replace(run.spec, clock=replace(run.spec.clock, mode="real")))
    with pytest.raises(InputError, match="real time"):
        Trial(real, PAUSE, lambda specs: pytest.fail("it was run"), 1).outcome(StopLoad("l1"), S)


def test_load_can_be_stopped_just_after_its_start(written):
    assert begin_ns(written("a"), "l1") == 11 * MS
