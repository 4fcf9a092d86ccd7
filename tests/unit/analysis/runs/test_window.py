import pytest
from support.runs import MS

from wblab.analysis.runs.pauses import Window, around, between, cycles_in, longest_paused, whole
from wblab.analysis.runs.run import read_run
from wblab.core.errors import InputError

S = 1000 * MS


@pytest.fixture
def run(make_run):
    """w1 never stalls, mw1 stalls from 4.1 s to 6 s, and the offender's only cycle is the longest of all."""
    return read_run(
        make_run(
            {
                "c1": [S + 50 * MS * i for i in range(201)],
                "w1": [S + 50 * MS * i for i in range(201)],
                "mw1": [S, 5 * S, 7 * S, 11 * S],
                "l1": [S, 6 * S, 11 * S],
            }
        )
    )


def test_whole_run(run):
    assert whole(run) == Window(S, 11 * S)
    assert whole(run).duration_ns == 10 * S


def test_between_counts_from_the_start_of_the_loads(run):
    assert between(run, 2 * S, 3 * S) == Window(3 * S, 4 * S)
    assert between(run, None, 3 * S) == Window(S, 4 * S)
    assert between(run, 9 * S, None) == Window(10 * S, 11 * S)


def test_between_ends_with_the_run(run):
    assert between(run, 9 * S, 99 * S) == Window(10 * S, 11 * S)


@pytest.mark.parametrize(("start", "end"), [(10 * S, None), (20 * S, 30 * S), (None, 0)])
def test_between_outside_the_run(run, start, end):
    with pytest.raises(InputError, match=r"lasts 10.00 s"):
        between(run, start, end)


def test_between_refuses_reversed_times(run):
    with pytest.raises(InputError, match="between 5 s and 3 s: --from must be before --to"):
        between(run, 5 * S, 3 * S)


def test_longest_pause_is_that_of_an_innocent_load_that_writes(run):
    assert longest_paused(run).name == "mw1"


def test_around_the_longest_pause_has_a_margin(run):
    window = around(run, "longest")
    index = int(run.load("mw1").pauses_ns.argmax())
    start_ns, end_ns = run.load("mw1").boundaries_ns[index : index + 2]
    assert window.start_ns < start_ns or window.start_ns == S
    assert window.end_ns > end_ns or window.end_ns == 11 * S


def test_around_one_load(run):
    assert around(run, "w1").duration_ns <= 2 * S


def test_around_an_unknown_load(run):
    with pytest.raises(InputError, match=r"no load 'mw2' .*did you mean 'mw1'.*give 'longest'"):
        around(run, "mw2")


def test_cycles_in_a_window_are_those_that_overlap_it(run):
    item = run.load("mw1")
    assert cycles_in(item, None) == (0, 3)
    assert cycles_in(item, Window(S, 11 * S)) == (0, 3)
    assert cycles_in(item, Window(5 * S, 7 * S)) == (1, 2)
    assert cycles_in(item, Window(6 * S, 8 * S)) == (1, 3)
    assert cycles_in(item, Window(20 * S, 30 * S)) == (3, 3)
    assert cycles_in(item, Window(0, S // 2)) == (0, 0)
