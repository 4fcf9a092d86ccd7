"""Samples with what a reader calls a run's loads."""

import asyncio

from wblab.lab.results import SPECS
from wblab.lab.specfile import read_spec
from wblab.live.monitor.plainnames import names_of, plainly
from wblab.live.monitor.samples import Batch, SampleSource, Throttled, Waited, WrittenSample


def test_loads_are_called_as_in_pictures_and_others_keep_their_names():
    batch = Batch(
        9,
        throttled=(Throttled(1, "l1", 2), Throttled(1, "dd", 2)),
        waits=(Waited("w1", 1, 2, over=True),),
        writers=(WrittenSample(1, 2, "mw1", 3),),
    )

    async def given():
        yield SampleSource("x", 0)
        yield batch

    async def taken():
        names = names_of(read_spec(SPECS.find("base-device")).load)
        return [item async for item in plainly(given(), names)]

    source, found = asyncio.run(taken())
    assert source == SampleSource("x", 0)
    assert [one.task for one in found.throttled] == ["copy l1", "dd"]
    assert [one.name for one in found.waits] == ["editor w1"]
    assert [one.task for one in found.writers] == ["mail mw1"]
