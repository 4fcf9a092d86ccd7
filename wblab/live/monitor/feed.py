"""Recent samples, numbered, so that a reconnecting page continues where it was."""

import asyncio
from collections import deque
from dataclasses import dataclass

from wblab.live.monitor.samples import Batch, End, Item, Source, line

LIMIT_BYTES = 64 << 20


@dataclass(frozen=True)
class Numbered:
    """A batch as a line, and its number, from 1 on."""

    number: int
    text: bytes


class Feed:
    """A source's latest batches, up to `limit_bytes`, for any number of readers."""

    def __init__(self, limit_bytes: int = LIMIT_BYTES) -> None:
        self.source: Source | None = None
        self.end: End | None = None
        self._limit_bytes = limit_bytes
        self._kept: deque[Numbered] = deque()
        self._bytes = 0
        self._last = 0
        self._changed = asyncio.Event()

    def add(self, item: Item) -> None:
        """Add the source's next item."""
        if isinstance(item, Source):
            self.source = item
        elif isinstance(item, End):
            self.end = item
        else:
            self._keep(item)
        self._changed.set()
        self._changed = asyncio.Event()  # set at the next change

    def after(self, number: int) -> list[Numbered]:
        """Return the kept batches after this number."""
        if number > self._last:  # not one of our numbers
            number = 0
        first = self._kept[0].number if self._kept else 1
        return [self._kept[at] for at in range(max(0, number + 1 - first), len(self._kept))]

    def missed(self, number: int) -> int:
        """Return how many batches after this number are no longer kept."""
        first = self._kept[0].number if self._kept else 1
        return max(0, first - number - 1) if 0 < number <= self._last else 0

    async def change(self) -> None:
        """Wait until something is added."""
        await self._changed.wait()

    def _keep(self, batch: Batch) -> None:
        self._last += 1
        self._kept.append(Numbered(self._last, line(batch)))
        self._bytes += len(self._kept[-1].text)
        while self._bytes > self._limit_bytes and len(self._kept) > 1:
            self._bytes -= len(self._kept.popleft().text)
