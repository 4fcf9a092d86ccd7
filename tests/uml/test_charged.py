"""Waits for what bytes in a queue do not show: a disk's own cache, a suspended device mapper, a limit set meanwhile."""

from pathlib import Path

import pytest

from wblab.analysis.why.explain import explain
from wblab.analysis.why.recorded import read_recorded

# For each load that waits: what held it, for whom, how long it lasts, and a part of the words.
EXPECTED = {
    "k-cached": ("cache", "l-cached's dd", (5.5, 8.5), ""),
    "k-mapped": ("mapper", "the agent a1", (2.5, 3.1), "because the agent a1 had suspended the disk *mapped*"),
    "k-limited": ("limit", "k-limited", (1.8, 2.1), "io.max of the control group *few*, set by the phase *slow*"),
}


@pytest.fixture(scope="module")
def found(shared_lab):
    run = shared_lab.run(str(Path(__file__).with_name("charged.toml")))
    return explain(run, read_recorded(run))


@pytest.mark.parametrize("load", EXPECTED)
def test_what_held_a_request_is_named_for_what_it_is(found, load):
    layer, party, (least_s, most_s), words = EXPECTED[load]
    longest = max((item for item in found if item.load == load), key=lambda item: item.pause_ns)
    main = longest.charges[0]
    assert (main.layer, main.party) == (layer, party)
    assert words in main.words
    assert least_s < main.time_ns / 1e9 < most_s
    assert main.time_ns > 0.9 * longest.pause_ns
    assert longest.unexplained_ns < 0.05 * longest.pause_ns
