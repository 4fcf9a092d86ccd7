from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wblab.analysis.runs.pauses import Window
from wblab.analysis.runs.rates import event_rates, round_bin_ns

S = 10**9


def cache(times_ns):
    """Return the part of a page cache that `event_rates` needs."""
    times = {name: np.array(values, np.int64) for name, values in times_ns.items()}
    ordered = dict(sorted(((name, len(values)) for name, values in times.items()), key=lambda item: -item[1]))
    return SimpleNamespace(counts=ordered, times_ns=times.__getitem__)


def test_rates_are_per_second_for_any_span():
    rates = event_rates(cache({"a": [i * S // 10 for i in range(1000)]}), Window(0, 100 * S))
    assert rates.bin_ns == S
    assert set(rates.per_s["a"][:100]) == {10.0}


def test_events_outside_the_window_do_not_count():
    rates = event_rates(cache({"a": [0, 5 * S, 500 * S]}), Window(4 * S, 10 * S))
    assert rates.per_s["a"].sum() * rates.bin_ns == pytest.approx(S)


def test_rare_types_are_merged():
    times = {f"e{i}": [S] * (20 - i) for i in range(12)}
    rates = event_rates(cache(times), Window(0, 2 * S), shown=4)
    assert list(rates.per_s) == ["e0", "e1", "e2", "e3", "8 others"]
    total = sum(values.sum() for values in rates.per_s.values()) * rates.bin_ns / S
    assert total == pytest.approx(sum(20 - i for i in range(12)))


def test_a_single_further_type_is_shown_by_itself():
    rates = event_rates(cache({f"e{i}": [S] for i in range(5)}), Window(0, 2 * S), shown=4)
    assert len(rates.per_s) == 5
    assert not [name for name in rates.per_s if "others" in name]


def test_types_without_events_in_the_window_are_left_out():
    assert list(event_rates(cache({"a": [1], "b": [9 * S]}), Window(8 * S, 10 * S)).per_s) == ["b"]


@given(st.integers(min_value=1, max_value=10**15))
def test_spans_are_round_and_about_a_hundred_and_twenty(duration_ns):
    bin_ns = round_bin_ns(duration_ns)
    assert str(bin_ns).rstrip("0") in ("1", "2", "5")
    assert bin_ns >= 1_000_000
    assert duration_ns / bin_ns <= 120 + 1e-6
    assert bin_ns == 1_000_000 or duration_ns / bin_ns >= 120 / 2.5 - 1e-6
