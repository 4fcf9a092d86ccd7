"""What trials say, in words: the trial wins over the sentence, and nothing is certain without one."""

from dataclasses import replace

import pytest

from wblab.analysis.why.explain import Explanation
from wblab.study.designs.prove.change import read_remedy
from wblab.study.designs.prove.search import Search, Without
from wblab.study.designs.prove.tried import TriedSentence
from wblab.study.designs.prove.words import first_line, lines, table

from .test_search import QUESTION, effect, searched

PAUSE = Explanation("w1", 1, 0, 15 * 10**9, 15 * 10**9, {}, (), ())


def said(question, left_s, helps=lambda item: 14):
    return lines(TriedSentence(PAUSE, searched(question, left_s, helps)), "latest", "exp/run")


def test_a_sentence_that_holds_and_its_best_remedy_with_a_command():
    left = {"queue of 512 KiB": 1.3, "WBT": 9}
    first, second, command, vain = said(
        QUESTION, lambda out: 0 if "l1" in out else 15, lambda item: left.get(item.short, 15)
    )
    assert first == "Tried on this run: without l1, 15 s became 0 s."
    assert second == "A queue of 512 KiB for the disk: 15 s became 1.30 s."
    short = "--remedy disk.disk.queue.nr_requests=4 --remedy disk.disk.queue.max_sectors_kb=128"
    assert command == f"    wblab why latest --prove {short}"
    assert vain.startswith("Others help little (9 to 15 s left): own dirty limit, ")


@pytest.mark.parametrize(
    ("guilty", "first", "second"),
    [
        (
            {"l2"},
            "Tried on this run: leaving l1 out does not change this pause (15 s): l1 did not cause it.",
            "Without l2, 15 s became 0 s: l2 causes it, against the sentence above.",
        ),
        (
            {"l1", "l2"},
            "Tried on this run: leaving l1 out does not change this pause (15 s): l2 takes its place.",
            "Without l1 and l2 together, 15 s became 0 s: each of them is enough to cause it.",
        ),
        (
            {"nobody"},
            "Tried on this run: leaving l1 out does not change this pause (15 s): l1 did not cause it.",
            "Without all other loads, 15 s became 15 s: none of them causes it.",
        ),
    ],
)
def test_a_sentence_that_does_not_hold_is_contradicted(guilty, first, second):
    found = said(QUESTION, lambda out: 0 if guilty <= out else 15)
    assert found[:2] == [first, second]
    assert found[2].startswith("No setting that was tried helps much (14 s left): queue of 512 KiB, ")


def test_those_named_who_take_part_beside_those_that_count_are_told():
    def left_s(out):
        return {frozenset(): 15, frozenset(("l2",)): 7, frozenset(("l1", "l2")): 0}.get(frozenset(out), 14.9)

    found = said(replace(QUESTION, others=()), left_s)
    assert found[1:3] == [
        "Without l2, 15 s became 7 s: l2 counts more.",
        "Without l1 too, 0 s is left: l1 alone is enough for 7 s.",
    ]


def test_a_pause_that_only_moves_is_told():
    own = replace(QUESTION, named=(), is_own=True)
    search = searched(own, lambda out: 0 if "l2" in out else 15)
    search.effects.update({item: replace(found, longest_ns=14 * 10**9) for item, found in search.effects.items()})
    first = lines(TriedSentence(PAUSE, search), "latest", "exp/run")[0]
    assert first == (
        "Tried on this run: without l2, 15 s became 0 s, and their longest pause then is 14 s: "
        "without that, such a pause comes at another time."
    )


def test_a_phase_that_counts_is_told_with_what_it_sets():
    phased = read_remedy(["sysctl.vm.drop_caches=3", "disk.disk.mount_options=['sync', 'noatime']"])
    spec = phased.applied(QUESTION.spec, 5 * 10**9)
    own = replace(QUESTION, spec=spec, named=(), is_own=True, others=("the phase *remedy*",))
    first = said(own, lambda out: 0 if "the phase *remedy*" in out else 15)[0]
    assert first.endswith(
        ": the phase *remedy* (at 5 s: sysctl.vm.drop_caches=3, disk.disk.mount_options=sync,noatime) causes it."
    )
    first = said(own, lambda out: 15)[0]
    assert first.endswith("without all other loads and the phase *remedy*, 15 s became 15 s: none of them causes it.")


def test_the_only_other_load_is_told_by_name():
    alone = replace(QUESTION, named=(), is_own=True, likely=("l1",), others=())
    first = said(alone, lambda out: 15)[0]
    assert first == "Tried on this run: without l1, 15 s became 15 s: l1 does not cause it."


def test_several_that_count_against_a_sentence_are_told_so():
    own = replace(QUESTION, named=(), is_own=True)
    first, *_ = said(own, lambda out: 0 if {"l1", "l2"} <= out else 15)
    assert first.endswith(": each of them is enough to cause it, against the sentence above.")


def test_what_a_setting_costs_the_load_that_counts_is_said():
    search = searched(QUESTION, lambda out: 0 if "l1" in out else 15, lambda item: 15)
    cheap, dear, *_ = (item for item, _ in search.tried)
    search.effects[cheap] = replace(effect(0.4), shares=(("l1", 0.97),))
    search.effects[dear] = replace(effect(0.5), shares=(("l1", 0.62), ("l2", 1.0)))
    _, first, _, second, *_ = lines(TriedSentence(PAUSE, search), "latest", "exp/run")
    assert first.endswith(": 15 s became 400 ms.")
    assert second.endswith(": 15 s became 500 ms; l1 did 62 % of its work.")


def test_each_of_several_that_are_named_is_left_out_alone_too():
    both = replace(QUESTION, named=("l1", "l2"))
    either = said(both, lambda out: 0 if {"l1", "l2"} <= out else 15)[0]
    assert either == (
        "Tried on this run: without l1 and l2 together, 15 s became 0 s; without one of them, 15 s: "
        "another one takes its place."
    )
    parts = said(both, lambda out: 0 if {"l1", "l2"} <= out else 9 if "l1" in out else 8 if "l2" in out else 15)[0]
    assert parts.endswith(", 15 s became 0 s; without l1 alone, 9 s and without l2 alone, 8 s.")


def test_several_that_each_shorten_it_somewhat_are_parts():
    found = said(QUESTION, lambda out: 0 if {"l1", "l2"} <= out else 9 if out & {"l1", "l2"} else 15)
    assert found[1] == "Without l1 and l2 together, 15 s became 0 s: all of them are parts of the cause."


def test_others_that_count_are_said_too():
    both = said(QUESTION, lambda out: 0 if out & {"l1", "l2"} else 15)
    assert both[1] == "Without l2, 15 s became 0 s: it takes both l1 and l2."
    more = said(QUESTION, lambda out: 0 if "l2" in out else 4 if "l1" in out else 15)
    assert more[:2] == [
        "Tried on this run: without l1, 15 s became 4 s.",
        "Without l2, 15 s became 0 s: l2 counts more.",
    ]


def test_where_nobody_is_named_the_one_who_counts_is():
    first, *_ = said(replace(QUESTION, named=()), lambda out: 0 if "l2" in out else 15)
    assert first == "Tried on this run: without l2, 15 s became 0 s: l2 causes it."


def test_what_could_not_be_tried_is_said_with_the_next_step():
    assert lines(TriedSentence(PAUSE, None, "no kernel"), "", "") == [
        "Not tried: no kernel. So no cause is certain here."
    ]
    found = lines(TriedSentence(PAUSE, Search(QUESTION), "there was no time for it", cost_s=12.4), "latest", "")
    assert found == [
        "Nothing was tried: there was no time for it.",
        "    wblab why latest --try-for 130s    # the trials so far are kept",
    ]


def test_a_further_cause_has_one_line():
    search = Search(QUESTION, is_brief=True)
    assert search.wanted() == [Without(("l1",))]
    search.effects[Without(("l1",))] = effect(0)
    assert (first_line(TriedSentence(PAUSE, search)), search.wanted()) == ("Tried: without l1, 15 s became 0 s.", [])
    assert not first_line(TriedSentence(PAUSE, Search(QUESTION)))


def test_json_says_the_same():
    found = table(TriedSentence(PAUSE, searched(QUESTION, lambda out: 0 if "l2" in out else 15)))
    assert (found["finding"], found["named"], found["culprits"]) == ("contradicts", ["l1"], ["l2"])
    first = found["trials"][0]
    assert (first["left_out"], first["verdict"], first["was_ns"]) == (["l1"], "unchanged", 15 * 10**9)
    assert found["remedies"] == []


def test_what_is_shorter_without_others_is_theirs_in_part():
    own = replace(QUESTION, named=(), is_own=True, likely=("l1",), others=())
    first = said(own, lambda out: 8.2)[0]
    assert first == "Tried on this run: without l1, 15 s became 8.20 s: l1 causes 45 % of it."
    found = said(QUESTION, lambda out: 8.2 if "l2" in out else 15)
    assert found[1] == "Without l2, 15 s became 8.20 s: l2 causes 45 % of it."
    every = said(QUESTION, lambda out: {0: 15, 1: 13, 2: 11}.get(len(out), 8))
    assert every[1] == "Without all other loads, 15 s became 8 s: they cause 47 % of it."


def test_one_who_is_named_for_the_rest_is_not_against_the_sentence():
    found = said(replace(QUESTION, mentioned=("l1", "l2")), lambda out: 0 if "l2" in out else 15)
    assert found[1] == "Without l2, 15 s became 0 s: l2 counts more."
