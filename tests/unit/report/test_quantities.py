"""Quantities and intervals as text."""

import math
import subprocess
import sys

import pytest

from wblab.report.quantities import (
    about,
    confidence,
    duration,
    grouped,
    in_series,
    interval,
    listed,
    metric_name,
    moment,
    numbers,
    percent,
    quantity,
    size,
    span,
    unit_of,
)


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (15.512, "s", "15.5 s"),
        (1.2794, "s", "1.28 s"),
        (0.6004, "s", "600 ms"),
        (0.6, "s", "600 ms"),
        (9.999, "s", "10.0 s"),
        (134.2, "s", "134 s"),
        (12345.6, "s", "12346 s"),
        (0.0123, "s", "12.3 ms"),
        (3.14e-6, "s", "3.14 µs"),
        (4e-8, "s", "40 ns"),
        (0.0, "s", "0 s"),
        (1.0, "s", "1 s"),
        (1536.0, "bytes", "1.50 KiB"),
        (27_500_000, "bytes", "26.2 MiB"),
        (4096, "bytes", "4 KiB"),
        (5 * 2**30, "bytes/s", "5 GiB/s"),
        (0.125, "/s", "0.12 /s"),
        (1234.5, "", "1234"),
        (0.0432, "×", "×0.043"),
        (0.43, "×", "×0.43"),
        (11.84, "×", "×11.8"),
        (2.0, "extents", "2 extents"),
        (0.997, "share", "99.7 %"),
        (0.5, "share", "50 %"),
        (0.0123, "share", "1.23 %"),
        (0.9996, "share", "99.96 %"),
        (1.0, "share", "100 %"),
        (-1e-6, "share", "0.00 %"),
        (0, "bytes", "0 bytes"),
        (math.inf, "s", "never"),
    ],
)
def test_a_quantity_has_three_digits_and_a_unit_that_fits(value, unit, text):
    assert quantity(value, unit) == text


def test_a_signed_number_shows_its_side_of_zero_and_another_is_rounded():
    assert numbers([0.00031, 0.79, 0.268], "s", signed=True) == (("+0.31", "+790", "+268"), "ms")
    assert numbers([0.0003, 2.5], "s") == (("0.00", "2.50"), "s")
    assert numbers([-0.0003, 2.5], "s", signed=True) == (("-0.0003", "+2.50"), "s")
    assert numbers([-0.0, 1.5], "s") == (("0", "1.50"), "s")


def test_an_interval_has_one_unit():
    assert interval(1.52, 1.41, 1.63, "s") == "1.52 s (1.41 to 1.63)"
    assert interval(0.0349, -0.052, 0.122, "s") == "34.9 ms (-52.0 to 122)"
    assert interval(0.43, 0.4, 0.46, "×") == "×0.43 (0.40 to 0.46)"
    assert interval(-1.5, -2.5, -0.5, "s", signed=True, level=0.975) == "-1.50 s (97.5 %: -2.50 to -0.50)"


def test_an_interval_without_ends_or_width_is_its_estimate():
    assert interval(1.52, None, None, "s") == interval(1.52, 1.52, 1.52, "s") == "1.52 s"


def test_a_span_is_two_ends_or_one():
    assert (span(1.41, 1.634, "s"), span(2.5, 2.5, "s")) == ("1.41 to 1.63 s", "2.50 s")
    assert span(0.41, 0.64, "×") == "×0.41 to ×0.64"


def test_values_are_listed_with_one_unit():
    assert listed([1.2, 1.31, 12.44], "s") == "1.20, 1.31, 12.4 s"
    assert listed([0.5, 0.432], "×") == "×0.50, ×0.43"
    assert listed([math.inf], "s") == "never"


def test_short_ways_to_write_common_ones():
    assert (duration(600_000_000), moment(10_370_000_000), size(4096)) == ("600 ms", "10.370 s", "4 KiB")
    assert (percent(0.1234), percent(math.nan)) == ("12.3 %", "–")
    assert [confidence(level) for level in (0.95, 0.05, 0.9986, 1.0)] == ["95 %", "5 %", "99.86 %", "100 %"]
    assert [confidence(1 - 0.05 / tests) for tests in (2, 1618)] == ["97.5 %", "99.997 %"]
    assert [about(time_s) for time_s in (0.2, 42.4, 150, 7200)] == [
        "about 1 s",
        "about 42 s",
        "about 2 min",
        "about 2.0 h",
    ]


def test_it_needs_the_standard_library_alone():
    program = "import sys, wblab.report.quantities; sys.exit(bool({'numpy', 'jinja2', 'pandas'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


@pytest.mark.parametrize(
    ("metric", "values", "texts"),
    [
        ("longest_pause_s", (1.2345, 12.3), ("1.23", "12.3 s")),
        ("cycle_p50_s", (0.000025,), ("25 µs",)),
        ("cycle_p50_s", (0.0,), ("0 s",)),
        ("paused_fraction", (0.5,), ("50 %",)),
        ("throughput_bps", (1 << 20,), ("1 MiB/s",)),
        ("throughput_bps", (512.0,), ("512 bytes/s",)),
        ("cycle_rate_hz", (0.125, 9.5), ("0.12", "9.50 /s")),
        ("of_another_lab", (1.25,), ("1.25 ",)),
    ],
)
def test_values_have_a_unit_that_fits(metric, values, texts):
    found, unit = numbers(values, unit_of(metric))
    assert (*found[:-1], f"{found[-1]} {unit}") == texts


def test_metric_names():
    assert [metric_name(name) for name in ("longest_pause_s", "cycle_p999_s", "cycle_rate_hz")] == [
        "longest pause",
        "cycle p99.9",
        "cycle rate",
    ]


def test_names_in_a_row_are_one():
    assert in_series(["r1", "r6", "r3", "r2", "w", "r4"]) == ["r1 to r4", "r6", "w"]
    assert in_series(["r9", "r10", "r11", "x1", "x2", "r012"]) == ["r9 to r11", "x1", "x2", "r012"]
    assert grouped(["l1", "l2", "l3"], "programs") == "l1, l2 and l3"
    assert grouped(["r1", "r2", "r3", "r4", "cat"], "readers") == "five readers (r1 to r4 and cat)"
