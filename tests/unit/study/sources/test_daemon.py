"""The claim on the daemon, judged by the daemon's output."""

import json
from dataclasses import replace

import pytest

from wblab.analysis.statistics.decision import NOT_REPRODUCED, REPRODUCED
from wblab.study.sources.thesis.disks import CASE, check_found


@pytest.fixture
def watched(sample, tmp_path):
    """Return a function that makes a sample in which the daemon throttled these programs."""

    def make(*held):
        events = [{"action": "note", "name": ""}, *({"action": "hold", "name": name} for name in held)]
        (tmp_path / "agent.mitigate.log").write_text("".join(f"{json.dumps(event)}\n" for event in events))
        made = sample()
        return replace(made, run=replace(made.run, path=tmp_path))

    return make


@pytest.mark.parametrize(
    ("held", "outcome"),
    [
        (("l1", "l2"), REPRODUCED),
        (("l1", "l2", "l1"), REPRODUCED),
        (("l1",), NOT_REPRODUCED),
        (("l1", "l2", "mw1"), NOT_REPRODUCED),
        ((), NOT_REPRODUCED),
    ],
)
def test_the_daemon_must_find_exactly_both_offenders(watched, held, outcome):
    assert check_found({CASE: [watched(*held)] * 8}).outcome == outcome
