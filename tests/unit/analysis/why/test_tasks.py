"""Tasks are told apart by their parents and by when they lived, not by their names."""

import pytest
from support.blametraces import Story
from support.runs import MS

from wblab.analysis.why.lives import read_lives
from wblab.analysis.why.parties import read_parties
from wblab.analysis.why.tasks import Tasks, read_tasks

from .conftest import MW1
from .test_explain import L1

INIT, KTHREADD = 1, 2
NAMES = {7: "mw1", 30: "jbd2/sda-8", 31: "backup", 32: "kworker/u4:0", 33: "mw1", 34: "python3", 35: "python3"}


def tasks(**more):
    parents = {30: 7, 31: KTHREADD, 32: INIT, 33: INIT, 34: INIT, 35: INIT}
    return Tasks(NAMES, {7: "mw1"}, parents, agents={34: "a1", 35: "a2"}, **more)


def test_kernel_threads_are_known_by_their_parent():
    assert [tasks().is_kernel(key) for key in (7, 30, 31, 32, 34)] == [False, False, True, False, False]


def test_tasks_of_unknown_parents_are_known_by_where_they_slept():
    known = Tasks({8: "jbd2/sda-8", 9: "jbd2/sdb-8", 10: "jbd2/sdc-8"}, {}, programs={8}, kernel={9})
    assert [known.is_kernel(key) for key in (8, 9, 10)] == [False, True, True]


@pytest.mark.parametrize(
    ("key", "name", "whole"),
    [
        (7, "mw1", "mw1"),
        (30, "mw1's jbd2/sda-8", "mw1"),
        (31, "backup", "backup"),
        (32, "the program kworker/u4:0", "the program kworker/u4:0"),
        (33, "the program mw1", "the program mw1"),
        (34, "the agent a1", "the agent a1"),
        (35, "the agent a2", "the agent a2"),
    ],
)
def test_names_say_what_a_task_is(key, name, whole):
    assert (tasks().name(key), tasks().whole(key)) == (name, whole)


def test_a_load_with_many_programs_is_one_party():
    children = range(100, 110)
    many = Tasks({7: "mw1", **{key: f"part{key}" for key in children}}, {7: "mw1"}, dict.fromkeys(children, 7))
    assert {many.name(key) for key in children} == {"mw1's children"}
    assert {many.whole(key) for key in children} == {"mw1"}


def test_tasks_with_the_same_pid_are_kept_apart(story_run):
    story = Story({MW1: "mw1", L1: "l1", 40: "last"})
    for at, by in enumerate((MW1, L1)):
        start_ns = at * 100 * MS
        story.fork(start_ns, by, 40)
        story.comms[40] = ("first", "last")[at]
        story.switch(start_ns, by, 40)
        story.submit(start_ns, 40, 1000 * (at + 1), 8, rwbs="WS")
        story.complete(start_ns + 50 * MS, 1000 * (at + 1), 8)
        story.switch(start_ns + 60 * MS, 40, by)
    _, recorded = story_run(story, [0, 300 * MS])
    parties = read_parties(recorded)
    assert parties.named(recorded.moved.ahead(98 << 20, 0, 1000)) == {"mw1's first": 4096, "last": 4096}
    assert recorded.name(40) == "last"


def test_children_of_init_before_the_loads_are_the_agents_in_order(story_run):
    story = Story({})
    for pid in (24, 25, MW1):
        story.fork(0, INIT, pid)
    story.fork(0, 25, 26)
    story.switch(0, INIT, MW1)
    _, recorded = story_run(story, [0, 300 * MS])
    trace, sequence = recorded.trace, recorded.sequence
    found = read_tasks(trace, sequence, read_lives(trace, sequence), {}, {MW1: "mw1"}, ["a1", "a2"])
    assert [found.agent_of(pid) for pid in (24, 25, 26, MW1)] == ["a1", "a2", "a2", ""]
    assert found.load_of(MW1) == "mw1"
