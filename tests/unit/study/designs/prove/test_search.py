"""What is tried next on a run, and what follows: culprits, remedies, and how they stand to the sentence."""

from dataclasses import replace

import pytest

from wblab.lab.places import PRESETS
from wblab.lab.specfile import read_spec
from wblab.study.designs.prove.effect import ChangeEffect
from wblab.study.designs.prove.search import EffectQuestion, Search, Without

S = 10**9
SPEC = read_spec(PRESETS / "base-device.toml", ["disk.queue.wbt_lat_usec=0"])
QUESTION = EffectQuestion(
    SPEC, "w1", stalled=("w1",), named=("l1",), likely=("l1", "l2"), others=("mw1",), wait="queue", disk="disk"
)


def effect(left_s, was_s=15):
    return ChangeEffect(was_s * S, 3 * S // 10, int(left_s * S), int(left_s * S), was_s * S)


def searched(question, left_s, helps=lambda item: 14):
    """Return a search that tried all it wanted, two at a time. left_s: what is left of 15 s without some loads."""
    search = Search(question)
    for _ in range(100):
        if not (wanted := search.wanted()[:2]):
            return search
        for item in wanted:
            search.effects[item] = effect(left_s(set(item.names)) if isinstance(item, Without) else helps(item))
    raise AssertionError("the search does not end")


def left_out(search):
    return [item.names for item in search.effects if isinstance(item, Without)]


def test_the_named_load_is_left_out_first_and_settings_follow_at_once():
    search = Search(QUESTION)
    first, second, *_ = search.wanted()
    assert first == Without(("l1",))
    assert second.settings == ("disk.disk.queue.nr_requests=4", "disk.disk.queue.max_sectors_kb=128")
    search = searched(QUESTION, lambda out: 0 if "l1" in out else 15)
    assert (search.finding, search.culprits, left_out(search)) == ("agrees", ("l1",), [("l1",), ("l2",)])


def test_if_another_counts_clearly_more_the_named_load_is_a_part():
    """Seen where one program waits for another before it goes on writing: without either, the pause is shorter."""
    search = searched(QUESTION, lambda out: 0 if "l2" in out else 4 if "l1" in out else 15)
    assert (search.finding, [(name, is_more) for name, _, is_more in search.rivals]) == ("partly", [("l2", True)])
    search = searched(QUESTION, lambda out: 0 if out & {"l1", "l2"} else 15)
    assert (search.finding, [(name, is_more) for name, _, is_more in search.rivals]) == ("agrees", [("l2", False)])


def test_if_the_named_load_does_not_count_others_are_left_out_until_one_does():
    search = searched(QUESTION, lambda out: 0 if "l2" in out else 15)
    assert (search.finding, search.culprits) == ("contradicts", ("l2",))
    assert left_out(search) == [("l1",), ("l2",)]


def test_loads_that_stall_only_together_are_found_as_a_set():
    search = searched(QUESTION, lambda out: 0 if {"l1", "l2"} <= out else 15)
    assert (search.finding, search.culprits, search.is_minimal) == ("partly", ("l1", "l2"), True)
    assert left_out(search) == [("l1",), ("l2",), ("l1", "l2")]  # loads that write much are tried first
    search = searched(QUESTION, lambda out: 0 if {"l1", "mw1"} <= out else 15)
    assert (search.finding, search.culprits, search.is_minimal) == ("partly", ("l1", "mw1"), True)


def test_a_load_without_which_a_pause_is_only_somewhat_shorter_is_a_part_of_its_cause():
    search = searched(QUESTION, lambda out: 9 if "l1" in out else 15)
    assert (search.finding, search.culprits) == ("partly", ())
    search = searched(QUESTION, lambda out: 0 if "l2" in out else 9 if "l1" in out else 15)
    assert (search.finding, search.culprits) == ("partly", ("l2",))
    search = searched(QUESTION, lambda out: 0 if "l2" in out else 13 if "l1" in out else 15)
    assert (search.finding, search.culprits) == ("contradicts", ("l2",))
    search = searched(QUESTION, lambda out: 6 if "l2" in out else 9 if "l1" in out else 15)
    assert (search.finding, search.culprits) == ("partly", ("l2",))


@pytest.mark.parametrize("slots", [1, 2, 3, 9])
def test_what_is_found_does_not_depend_on_which_trial_ends_first(slots):
    """Seen: the first pair that shortened it clearly was taken, and another one ended it."""
    three = replace(QUESTION, named=("l1",))

    def left_s(out):
        return 0 if {"l1", "l2"} <= out else 7 if {"l2", "mw1"} <= out else 15

    search = Search(three, is_brief=True)
    while wanted := search.wanted()[:slots]:
        for item in reversed(wanted):
            search.effects[item] = effect(left_s(set(item.names)))
    assert (search.finding, search.culprits) == ("partly", ("l1", "l2"))


def test_those_named_who_are_enough_for_what_is_left_without_others_are_a_part():
    """Seen: without o2, o0 and o1 write more; without these, o2 is enough for half of the pause."""

    def left_s(out, rest):
        return {frozenset(): 15, frozenset(("l2",)): 7, frozenset(("l1", "l2")): rest}.get(frozenset(out), 14.9)

    question = replace(QUESTION, others=())
    search = searched(question, lambda out: left_s(out, 0))
    assert (search.finding, search.culprits, search.joins) == ("partly", ("l2",), True)
    search = searched(question, lambda out: left_s(out, 6))
    assert (search.finding, search.culprits, search.joins) == ("contradicts", ("l2",), False)


def test_own_data_that_only_come_at_another_time_without_another_load_are_partly_right():
    own = replace(QUESTION, named=(), is_own=True)
    search = searched(own, lambda out: 0 if "l2" in out else 15)
    moved = {item: replace(found, longest_ns=14 * S) for item, found in search.effects.items()}
    search.effects.update(moved)
    assert (search.finding, search.culprits) == ("partly", ("l2",))


def test_a_phase_that_counts_made_a_load_s_own_work_slow():
    own = replace(QUESTION, named=(), is_own=True, others=("the phase *p*",))
    search = searched(own, lambda out: 0 if "the phase *p*" in out else 15)
    assert (search.finding, search.culprits) == ("partly", ("the phase *p*",))
    named = searched(replace(own, named=("l1",), is_own=False), lambda out: 0 if "the phase *p*" in out else 15)
    assert (named.finding, named.culprits) == ("contradicts", ("the phase *p*",))


def test_own_data_that_others_made_be_written_are_partly_right_where_nobody_ends_it():
    own = replace(QUESTION, is_own=True)
    assert searched(own, lambda out: 15).finding == "partly"
    assert searched(own, lambda out: 0 if "l2" in out else 15).finding == "contradicts"


def test_a_load_that_writes_little_is_found_too():
    search = searched(QUESTION, lambda out: 0 if "mw1" in out else 15)
    assert search.culprits == ("mw1",)


@pytest.mark.parametrize(
    ("is_own", "left_s", "finding", "culprits"),
    [
        (False, lambda out: 15, "alone", ()),
        (True, lambda out: 15, "agrees", ()),
        (False, lambda out: 0 if "l2" in out else 15, "found", ("l2",)),
        (True, lambda out: 0 if "l2" in out else 15, "contradicts", ("l2",)),
    ],
)
def test_where_nobody_else_is_named_all_others_are_left_out_at_once(is_own, left_s, finding, culprits):
    search = searched(replace(QUESTION, named=(), is_own=is_own), left_s)
    assert left_out(search)[0] == ("l1", "l2", "mw1")
    assert (search.finding, search.culprits) == (finding, culprits)


def test_a_trial_that_failed_decides_nothing_and_is_not_repeated():
    search = Search(QUESTION)
    search.effects[Without(("l1",))] = replace(effect(0), failure="no memory")
    assert (search.finding, search.culprits) == ("undecided", ())
    assert not any(isinstance(item, Without) for item in search.wanted())


def test_only_settings_that_clearly_shorten_the_pauses_are_remedies_the_best_first():
    left = {"queue of 512 KiB": 2, "own dirty limit": 0.5, "WBT": 9, "io.max": 7.4}
    search = searched(QUESTION, lambda out: 0, lambda item: left.get(item.short, 15))
    assert [item.short for item, _ in search.remedies] == ["own dirty limit", "queue of 512 KiB", "io.max"]


def test_of_two_settings_that_end_the_pause_the_one_that_costs_little_comes_first():
    search = searched(QUESTION, lambda out: 0, lambda item: {"queue of 512 KiB": 1.3, "WBT": 1.2}.get(item.short, 15))
    for item, found in search.remedies:
        search.effects[item] = replace(found, shares=(("l1", 0.6 if item.short == "WBT" else 1),))
    assert [item.short for item, _ in search.remedies] == ["queue of 512 KiB", "WBT"]


def test_settings_are_chosen_for_the_load_that_counts():
    search = searched(QUESTION, lambda out: 0 if "l2" in out else 15)
    assert any("load.l2.ioclass=idle" in item.settings for item, _ in search.tried)
    assert not any("load.mw1.ioclass=idle" in item.settings for item, _ in search.tried)


def test_own_data_of_which_half_is_left_without_others_are_partly_right():
    own = replace(QUESTION, named=(), is_own=True)
    search = searched(own, lambda out: 8 if "l1" in out else 15)
    assert (search.finding, search.culprits, search.part) == ("partly", (), ("l1",))
    search = searched(replace(own, mentioned=("l1",)), lambda out: 0 if "l1" in out else 15)
    assert (search.finding, search.culprits) == ("partly", ("l1",))
