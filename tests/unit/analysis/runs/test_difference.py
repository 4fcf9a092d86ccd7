"""The first differences between two runs."""

import pytest
from support.runs import MS, S, write_run
from support.ticktraces import named, trace

from wblab.analysis.runs.difference import first_differences
from wblab.analysis.runs.run import read_run
from wblab.core.errors import InputError
from wblab.core.rundir import TRACE

C1, W1 = [S, S + 50 * MS, S + 100 * MS], [S, S + 60 * MS]


@pytest.fixture
def runs(tmp_path):
    """Return a function that makes two runs from loads and traces."""

    def make(first, second, traces=(None, None)):
        made = []
        for name, boundaries, content in zip(("first", "second"), (first, second), traces, strict=True):
            path = write_run(tmp_path / name, boundaries)
            if content is not None:
                (path / TRACE).write_bytes(content)
            made.append(read_run(path))
        return made

    return make


def test_equal_runs_have_no_difference(runs):
    events = trace((300, 1, 5), (301, 2, 6))
    assert first_differences(*runs({"c1": C1}, {"c1": C1}, (events, events))) == []
    assert first_differences(*runs({"c1": C1}, {"c1": C1})) == []


def test_differences_are_ordered_by_time(runs):
    later = [*C1[:2], C1[2] + 7]
    found = first_differences(*runs({"c1": C1, "w1": W1}, {"c1": later, "w1": [S, S + 61 * MS]}))
    assert [item.what for item in found] == ["load w1, boundary 1", "load c1, boundary 2"]
    assert found[1].at_s == pytest.approx(1.1)
    assert (found[1].first, found[1].second) == (("1.100000000 s",), ("1.100000007 s",))


def test_a_load_that_ended_earlier_is_a_difference(runs):
    (found,) = first_differences(*runs({"c1": C1}, {"c1": C1[:2]}))
    assert (found.what, found.second) == ("load c1, boundary 2", ("none: it ended earlier",))


def test_a_load_of_only_one_run_is_a_difference(runs):
    (found,) = first_differences(*runs({"c1": C1, "w1": W1}, {"c1": C1}))
    assert (found.what, found.at_s) == ("load w1, boundary 0", 1.0)


BASE = [(300, ms, ms) for ms in range(1, 21)]


@pytest.mark.parametrize("pages", [1, 4])
@pytest.mark.parametrize(
    ("change", "index"),
    [
        (lambda events: [*events[:7], (300, 8, 99), *events[8:]], 7),  # a value
        (lambda events: [*events[:7], (301, 8, 8), *events[8:]], 7),  # a type
        (lambda events: [*events[:7], (300, 9, 8), *events[8:]], 7),  # a time
        (lambda events: events[:12], 12),
    ],
)
def test_the_first_event_that_differs_and_those_around_it(runs, change, index, pages):
    traces = trace(*BASE, pages=pages), trace(*change(BASE), pages=pages)
    (found,) = first_differences(*runs({"c1": C1}, {"c1": C1}, traces))
    assert found.what == f"event {index}"
    marked = [line for line in found.first if line.startswith(">")]
    assert marked == [f"> {1 + (index + 1) / 1000:.9f} CPU0 task-9 tick: value={index + 1}"]
    assert len(found.first) == 11
    assert found.first[:5] == found.second[:5]


@pytest.mark.parametrize(
    ("changed", "differs"),
    [
        ({"junk": b"left over"}, False),
        ({"ino": 7}, True),
        ({"kind": 2}, True),
        ({"rwbs": b"R"}, True),
        ({"text": "others"}, True),
    ],
)
def test_fields_of_an_event_count_and_stale_bytes_do_not(runs, changed, differs):
    traces = named("string", junk=b"some more"), named(**{"text": "string", "junk": b"some more"} | changed)
    assert bool(first_differences(*runs({"c1": C1}, {"c1": C1}, traces))) == differs


def test_a_trace_of_only_one_run_is_a_difference(runs):
    (found,) = first_differences(*runs({"c1": C1}, {"c1": C1}, (trace(*BASE), None)))
    assert (found.what, found.first, found.second) == ("the trace: one run has none", ("a trace",), ("none",))


def test_a_damaged_trace(runs):
    with pytest.raises(InputError, match=r"trace\.dat"):
        first_differences(*runs({"c1": C1}, {"c1": C1}, (trace(*BASE), b"nothing")))
