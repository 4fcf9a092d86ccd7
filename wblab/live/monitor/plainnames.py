"""Samples of a run's loads by what a reader calls such programs: `editor w1`."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import replace

from wblab.core.loads import Load
from wblab.lab.callings import called
from wblab.live.monitor.samples import Batch, Item


def names_of(loads: Mapping[str, Load]) -> dict[str, str]:
    """Return what each load is called."""
    return {name: called(load.kind, name) for name, load in loads.items()}


async def plainly(items: AsyncIterator[Item], names: Mapping[str, str]) -> AsyncIterator[Item]:
    """Yield items whose tasks have these names; of others they stay."""
    async for item in items:
        yield _named(item, names) if isinstance(item, Batch) else item


def _named(batch: Batch, names: Mapping[str, str]) -> Batch:
    return replace(
        batch,
        throttled=tuple(replace(one, task=names.get(one.task, one.task)) for one in batch.throttled),
        waits=tuple(replace(one, name=names.get(one.name, one.name)) for one in batch.waits),
        writers=tuple(replace(one, task=names.get(one.task, one.task)) for one in batch.writers),
    )
