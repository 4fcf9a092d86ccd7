"""The point of no return is found by bisection, and the curve shows what was seen."""

from hypothesis import given
from hypothesis import strategies as st

from wblab.proof.cut import Cut, verdict
from wblab.proof.returning import point_of_no_return

PAUSE_NS, BOUND_NS = 10_000, 300


def probing(pause_of):
    """What stops a suspect at a time, and counts how often."""
    asked = []

    def probe(halted_ns):
        asked.append(halted_ns)
        after_ns = pause_of(halted_ns)
        return Cut("l1", halted_ns, after_ns, verdict(PAUSE_NS, after_ns, BOUND_NS), "")

    return probe, asked


@given(st.integers(1, 5000), st.integers(1, 400))
def test_it_lies_between_the_last_that_is_saved_and_the_first_that_is_not(point, tolerance):
    probe, asked = probing(lambda halted: 0 if halted < point else PAUSE_NS)
    found = point_of_no_return(probe, probe(0), 5000, tolerance)
    assert found.saved.halted_ns < point <= found.lost.halted_ns
    assert found.lost.halted_ns - found.saved.halted_ns <= tolerance
    assert [item.halted_ns for item in found.curve] == sorted(asked)
    assert len(asked) <= 15


def test_a_pause_that_stays_without_the_suspect_has_none():
    probe, asked = probing(lambda halted: PAUSE_NS)
    found = point_of_no_return(probe, probe(0), 5000, 1)
    assert (found.saved, found.lost.verdict, asked) == (None, "unchanged", [0])


def test_a_pause_that_is_gone_whenever_the_suspect_stops_has_none():
    probe, _ = probing(lambda halted: 0)
    found = point_of_no_return(probe, probe(0), 5000, 1)
    assert (found.saved.halted_ns, found.lost) == (5000, None)


def test_verdicts():
    assert [verdict(PAUSE_NS, after, BOUND_NS) for after in (0, 300, 301, 9499, 9500, 10_500, 10_501)] == [
        *("gone", "gone", "shorter", "shorter", "unchanged", "unchanged", "longer")
    ]
