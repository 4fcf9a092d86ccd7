"""A bisection finds the point of no return; the curve holds every outcome."""

from hypothesis import given
from hypothesis import strategies as st

from wblab.study.designs.prove.returning import helps, point_of_no_return
from wblab.study.designs.prove.trial import TrialOutcome, verdict

PAUSE_NS, BOUND_NS = 10_000, 300


def probing(pause_of):
    """Return a function that stops a suspect at given times, and the list of times it was called with."""
    asked = []

    def probe(moments_ns):
        asked.extend(moments_ns)
        after_ns = map(pause_of, moments_ns)
        return [
            TrialOutcome("l1", at_ns, left_ns, verdict(PAUSE_NS, left_ns, BOUND_NS), "")
            for at_ns, left_ns in zip(moments_ns, after_ns, strict=True)
        ]

    return probe, asked


@given(st.integers(1, 5000), st.integers(1, 400))
def test_point_lies_between_last_saved_and_first_lost(point, tolerance):
    probe, asked = probing(lambda halted: 0 if halted < point else PAUSE_NS)
    found = point_of_no_return(probe, probe([0])[0], 5000, tolerance)
    assert found.saved.at_ns < point <= found.lost.at_ns
    assert found.lost.at_ns - found.saved.at_ns <= tolerance
    assert [item.at_ns for item in found.curve] == sorted(asked)
    assert len(asked) <= 40
    assert found.odd == ()


def test_no_point_if_the_change_never_helps():
    probe, asked = probing(lambda halted: PAUSE_NS)
    found = point_of_no_return(probe, probe([0])[0], 5000, 1)
    assert (found.saved, found.lost.verdict, asked) == (None, "unchanged", [0])


def test_no_point_if_the_change_always_helps():
    probe, _ = probing(lambda halted: 0)
    found = point_of_no_return(probe, probe([0])[0], 5000, 1)
    assert (found.saved.at_ns, found.lost, found.odd) == (5000, None, ())


def test_search_continues_if_the_change_helps_again_later():
    """Seen with l1 of base-device and a slower system call: 5.66 s is too late, 5.80 to 6.10 s is not."""
    probe, _ = probing(lambda at: 0 if at < 2600 or 2800 <= at < 3100 else PAUSE_NS)
    found = point_of_no_return(probe, probe([0])[0], 12_000, 50)
    assert found.saved.at_ns < 3100 <= found.lost.at_ns
    assert [item.verdict for item in found.odd] == ["unchanged"] * len(found.odd)
    assert {item.at_ns for item in found.odd} <= set(range(2600, 2800))
    assert found.odd


def test_gap_in_which_the_change_does_not_help_is_reported():
    probe, _ = probing(lambda at: PAUSE_NS if 1500 <= at < 3500 else 0)
    found = point_of_no_return(probe, probe([0])[0], 5000, 50)
    assert (found.lost, {item.verdict for item in found.odd}) == (None, {"unchanged"})


def test_verdict_for_each_pause_length():
    assert [verdict(PAUSE_NS, after, BOUND_NS) for after in (0, 300, 301, 9499, 9500, 10_500, 10_501)] == [
        *("gone", "gone", "shorter", "shorter", "unchanged", "unchanged", "longer")
    ]


def test_point_of_a_partial_remedy_is_at_half_its_effect():
    probe, _ = probing(lambda at: PAUSE_NS // 2 if at < 3000 else PAUSE_NS * 8 // 10)
    first = probe([0])[0]
    assert point_of_no_return(probe, first, 5000, 10).saved is None
    found = point_of_no_return(probe, first, 5000, 10, helps(first, PAUSE_NS))
    assert (found.lost.verdict, found.saved.at_ns < 3000 <= found.lost.at_ns) == ("shorter", True)


def test_shorter_pause_is_not_spared_if_it_was_gone_at_first():
    probe, _ = probing(lambda at: 0 if at < 1000 else PAUSE_NS // 10)
    found = point_of_no_return(probe, probe([0])[0], 5000, 10, helps(probe([0])[0], PAUSE_NS))
    assert found.saved.at_ns < 1000 <= found.lost.at_ns


def test_no_point_if_the_first_change_does_not_help():
    probe, asked = probing(lambda at: PAUSE_NS * 2)
    found = point_of_no_return(probe, probe([0])[0], 5000, 10, helps(probe([0])[0], PAUSE_NS))
    assert (found.saved, found.lost.verdict, len(asked)) == (None, "longer", 2)
