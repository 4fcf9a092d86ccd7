"""A trace.dat: what its tasks slept for in D."""

import pytest

from wblab.core.errors import InputError
from wblab.foreign.door import explained
from wblab.foreign.tracewaits import read_waits
from wblab.lab.places import ROOT

TRACE = ROOT / "tests/data/stacks.v7.dat"


def test_sleeps_in_d_are_added_up_by_what_the_stacks_say():
    found = read_waits(TRACE)
    assert all(item.blocked_ns == sum(ns for _, ns in item.waits_ns) >= item.longest_ns for item in found.slept)
    sums = [item.blocked_ns for item in found.slept]
    assert sums == sorted(sums, reverse=True)
    assert all(wait.nature != "runs" for item in found.slept for wait, _ in item.waits_ns)
    report = explained(str(TRACE))
    assert report.data["kind"] == "trace"
    assert len(report.data["tasks"]) == len(found.slept)


def test_only_the_tasks_that_are_named_are_told():
    assert explained(str(TRACE), tasks=("nobody",)).data["tasks"] == []


def test_a_damaged_trace_is_refused_in_one_line(tmp_path):
    file = tmp_path / "trace.dat"
    content = TRACE.read_bytes()
    for length in (12, 100, len(content) // 2):
        file.write_bytes(content[:length])
        with pytest.raises(InputError) as refused:
            explained(str(file))
        assert "\n" not in str(refused.value)
