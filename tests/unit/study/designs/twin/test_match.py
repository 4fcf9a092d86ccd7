import pytest

from wblab.study.designs.twin.result import Match


@pytest.mark.parametrize(
    ("live", "twin", "outcome"),
    [
        (5.0, (4.8, 5.0, 5.2, 5.1), "reproduced"),
        (8.5, (4.8, 5.0, 5.2, 5.1), "reproduced"),  # differs by less than a factor of two
        (20.0, (4.8, 5.0, 5.2, 5.1), "not reproduced"),
        (1.0, (4.8, 5.0, 5.2, 5.1), "not reproduced"),
        (5.0, (1.0, 5.0, 20.0), "not decided"),  # the twin's own runs differ by more
        (9.8, (4.8, 5.0, 5.2, 5.1), "not decided"),  # at the edge
        (5.0, (5.0, 5.0), "not decided"),  # too few runs
        (0.1, (0.001, 0.002, 0.001), "reproduced"),  # both are too short to notice
        (0.7, (0.0, 0.0, 0.0), "not reproduced"),
        (None, (0.7, 0.9), None),
    ],
)
def test_a_live_run_matches_the_twin_within_a_factor_of_two(live, twin, outcome):
    assert Match("mw1", "longest_pause_s", live, twin).outcome == outcome


def test_the_interval_widens_with_the_number_of_figures():
    one, six = (Match("mw1", "longest_pause_s", 5.0, (4.0, 5.0, 6.0), looks).ratio for looks in (1, 6))
    assert six[0] < one[0] < 1 < one[1] < six[1]
