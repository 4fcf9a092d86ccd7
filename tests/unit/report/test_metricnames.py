"""Names and units of metrics."""

import pytest

from wblab.report.quantities import metric_name, numbers, unit_of


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
