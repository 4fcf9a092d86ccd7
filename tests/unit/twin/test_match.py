import pytest

from wblab.twin.match import Match


@pytest.mark.parametrize(
    ("live", "twin", "verdict"),
    [
        (5.0, (4.0, 6.0), "matches"),
        (11.9, (4.0, 6.0), "matches"),
        (12.1, (4.0, 6.0), "live more"),
        (2.1, (4.0, 6.0), "matches"),
        (1.9, (4.0, 6.0), "live less"),
        (0.1, (0.001, 0.002), "matches"),  # nobody notices either
        (0.0, (0.0, 0.0), "matches"),
        (0.7, (0.0, 0.0), "live more"),
        (0.0, (0.7, 0.9), "live less"),
        (None, (0.7, 0.9), ""),
    ],
)
def test_a_live_value_matches_within_twice_the_twin_s_range(live, twin, verdict):
    assert Match("mw1", "longest_pause_s", live, twin).verdict == verdict
