"""The point of no return is found by bisection, and the curve shows what was seen."""

from hypothesis import given
from hypothesis import strategies as st

from wblab.study.designs.counterfactual.returning import helps, point_of_no_return
from wblab.study.designs.counterfactual.trial import Outcome, verdict

PAUSE_NS, BOUND_NS = 10_000, 300


def probing(pause_of):
    """What stops a suspect at a time, and counts how often."""
    asked = []

    def probe(at_ns):
        asked.append(at_ns)
        after_ns = pause_of(at_ns)
        return Outcome("l1", at_ns, after_ns, verdict(PAUSE_NS, after_ns, BOUND_NS), "")

    return probe, asked


@given(st.integers(1, 5000), st.integers(1, 400))
def test_it_lies_between_the_last_that_is_saved_and_the_first_that_is_not(point, tolerance):
    probe, asked = probing(lambda halted: 0 if halted < point else PAUSE_NS)
    found = point_of_no_return(probe, probe(0), 5000, tolerance)
    assert found.saved.at_ns < point <= found.lost.at_ns
    assert found.lost.at_ns - found.saved.at_ns <= tolerance
    assert [item.at_ns for item in found.curve] == sorted(asked)
    assert len(asked) <= 40
    assert found.odd == ()


def test_a_pause_that_stays_without_the_suspect_has_none():
    probe, asked = probing(lambda halted: PAUSE_NS)
    found = point_of_no_return(probe, probe(0), 5000, 1)
    assert (found.saved, found.lost.verdict, asked) == (None, "unchanged", [0])


def test_a_pause_that_is_gone_whenever_the_suspect_stops_has_none():
    probe, _ = probing(lambda halted: 0)
    found = point_of_no_return(probe, probe(0), 5000, 1)
    assert (found.saved.at_ns, found.lost, found.odd) == (5000, None, ())


def test_where_it_helps_again_later_that_is_said():
    """As l1 of base-device with a dearer system call: 5.66 s is too late, 5.80 to 6.10 s is not."""
    probe, _ = probing(lambda at: 0 if at < 2600 or 2800 <= at < 3100 else PAUSE_NS)
    found = point_of_no_return(probe, probe(0), 12_000, 50)
    assert found.saved.at_ns < 3100 <= found.lost.at_ns
    assert [item.verdict for item in found.odd] == ["unchanged"] * len(found.odd)
    assert {item.at_ns for item in found.odd} <= set(range(2600, 2800))
    assert found.odd


def test_where_it_does_not_help_in_between_that_is_said():
    probe, _ = probing(lambda at: PAUSE_NS if 1500 <= at < 3500 else 0)
    found = point_of_no_return(probe, probe(0), 5000, 50)
    assert (found.lost, {item.verdict for item in found.odd}) == (None, {"unchanged"})


def test_verdicts():
    assert [verdict(PAUSE_NS, after, BOUND_NS) for after in (0, 300, 301, 9499, 9500, 10_500, 10_501)] == [
        *("gone", "gone", "shorter", "shorter", "unchanged", "unchanged", "longer")
    ]


def test_a_remedy_that_only_shortens_has_a_point_where_it_helps_half_as_much():
    probe, _ = probing(lambda at: PAUSE_NS // 2 if at < 3000 else PAUSE_NS * 8 // 10)
    first = probe(0)
    assert point_of_no_return(probe, first, 5000, 10).saved is None
    found = point_of_no_return(probe, first, 5000, 10, helps(first, PAUSE_NS))
    assert (found.lost.verdict, found.saved.at_ns < 3000 <= found.lost.at_ns) == ("shorter", True)


def test_what_was_gone_is_not_spared_where_it_is_only_shorter():
    probe, _ = probing(lambda at: 0 if at < 1000 else PAUSE_NS // 10)
    found = point_of_no_return(probe, probe(0), 5000, 10, helps(probe(0), PAUSE_NS))
    assert found.saved.at_ns < 1000 <= found.lost.at_ns


def test_what_does_not_help_at_first_has_no_point():
    probe, asked = probing(lambda at: PAUSE_NS * 2)
    found = point_of_no_return(probe, probe(0), 5000, 10, helps(probe(0), PAUSE_NS))
    assert (found.saved, found.lost.verdict, len(asked)) == (None, "longer", 2)
