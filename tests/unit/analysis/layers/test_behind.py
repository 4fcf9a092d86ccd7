"""A request at the device may wait there, behind as many others as the device's depth."""

import json
from dataclasses import replace

import pytest
from support.runs import write_run_of
from support.writetraces import FSYNC, WriteStory

from wblab.analysis.layers.requests import layers
from wblab.analysis.runs.run import read_run
from wblab.lab.results import SPECS
from wblab.lab.specfile import read_spec

from .conftest import S1
from .test_requests import COMMS, FOLIO, FOLIO_ENDS, OTHER


def two_before() -> WriteStory:
    """An fsync issued at 100 behind two requests that complete at 300 and 400; its own request completes at 500."""
    story = WriteStory(COMMS)
    for at, sector in ((10, 1000), (20, 1100)):
        story.submit(at, OTHER, sector, 8, rwbs="WS")
        story.issue(at, OTHER, sector, 8)
    story.enter(100, S1, FSYNC)
    story.submit(100, S1, 1200, 8, inode=13)
    story.issue(100, S1, 1200, 8)
    story.switch(100, S1, 0, stack=FOLIO)
    story.complete(300, 1000, 8)
    story.complete(400, 1100, 8)
    story.complete(500, 1200, 8)
    story.wake(500, 0, S1, FOLIO_ENDS)
    story.switch(500, 0, S1)
    story.leave(500, S1, FSYNC)
    return story


@pytest.mark.parametrize(
    ("depth", "states"),
    [
        (1, {"behind": 300, "device": 100}),
        (2, {"behind": 200, "device": 200}),
        (3, {"device": 400}),
        (32, {"device": 400}),
    ],
)
def test_a_wait_in_the_device_ends_when_a_slot_is_free(tmp_path, depth, states):
    story, spec = two_before(), read_spec(SPECS.find("layers"))
    disks = {name: replace(disk, depth=depth) for name, disk in spec.disk.items()}
    spec = replace(spec, load={"s1": spec.load["s1"]}, disk=disks)
    path = write_run_of(spec, tmp_path / "run", {"s1": [story.start_ns, story.start_ns + 600]})
    (path / "trace.dat").write_bytes(story.encode())
    (path / "disks.json").write_text(json.dumps({name: {"device": "98:0", "written_ns": 0} for name in disks}))
    (call,) = layers(read_run(path))
    assert call.states == states
