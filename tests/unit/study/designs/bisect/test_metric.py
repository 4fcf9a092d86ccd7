"""The names of metrics."""

import pytest

from wblab.core.errors import InputError
from wblab.lab.results import SPECS
from wblab.lab.specfile import read_spec
from wblab.study.designs.bisect.measuring import Metric, named_metric

SPEC = read_spec(SPECS.find("base"))


@pytest.mark.parametrize("text", ["mw1.longest_pause_s", "w1.paused_fraction", "l1.throughput_bps", "c1.mean_cycle_s"])
def test_metrics_of_the_loads_are_accepted(text):
    metric = named_metric(text, SPEC)
    assert isinstance(metric, Metric)
    assert str(metric) == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mw1", "is not LOAD.METRIC"),
        (".longest_pause_s", "is not LOAD.METRIC"),
        ("mw2.longest_pause_s", "no load 'mw2' .did you mean 'mw1'"),
        ("mw1.longest_pause", "did you mean 'longest_pause_s'"),
        ("mw1.throughput_bps", "mw1 has no metric 'throughput_bps'"),
        ("mw1.cycle_rate_hz", "mw1 has no metric 'cycle_rate_hz'"),
    ],
)
def test_other_metrics_are_refused(text, message):
    with pytest.raises(InputError, match=message):
        named_metric(text, SPEC)


def test_loads_that_wait_for_the_disk_have_a_rate_of_cycles():
    assert str(named_metric("k1.cycle_rate_hz", read_spec(SPECS.find("commit")))) == "k1.cycle_rate_hz"
