"""Pages of the kernel's ring buffer, walked (include/linux/ring_buffer.h, kernel/trace/ring_buffer.c).

An entry begins with a word of 32 bits: 5 bits of type and length, 27 bits of time since the entry before. In memory all
pages are one array of such words, and places in it are counted in words.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tracecmd.errors import TraceError
from tracecmd.formats import Field

_LONG_DATA, _LONGEST_DATA, _PADDING, _TIME_EXTEND, _TIME_STAMP = 0, 28, 29, 30, 31
_TIME_BITS = 27
_TIME_MASK = (1 << _TIME_BITS) - 1
# A time stamp has 59 bits; the others come from the time so far (rb_fix_abs_ts()).
_STAMP_BITS = 59
_STAMP_HIGH = ~((1 << _STAMP_BITS) - 1) & (1 << 64) - 1
# In the word of a page that says how many bytes are used.
_LOST, _LOST_COUNTED = 1 << 31, 1 << 30
# Pages walked side by side: many, so that NumPy pays; few, so that they stay in the processor's cache.
_BATCH_PAGES = 8192
# With fewer pages left than this, one after the other is faster.
_FEW_PAGES = 24

Words = NDArray[np.uint32]
Places = NDArray[np.int64]
# Data entries that one step found: their pages, their ranks within these, places, sizes, times.
_Found = tuple[Places, Places, Places, NDArray[np.signedinteger], NDArray[np.uint64]]


@dataclass(frozen=True)
class Layout:
    """How a page is laid out; sizes and offsets in bytes."""

    order: str
    page_bytes: int
    time: Field
    used: Field
    data_offset: int

    @classmethod
    def of(cls, fields: dict[str, Field], order: str, page_bytes: int) -> "Layout":
        """Return the layout that events/header_page describes. Raises TraceError for that of Linux 2.6.30."""
        try:
            time, used, data = fields["timestamp"], fields["commit"], fields["data"]
        except KeyError as error:
            raise TraceError(f"the trace does not say where a page has its {error}: it is from Linux 2.6.30") from None
        sound = time.size == 8 and used.size in (4, 8) and data.offset % 4 == 0 and data.offset < page_bytes
        if not sound or max(time.end, used.end) > data.offset:
            raise TraceError("the trace is damaged: its pages have a header that no kernel writes")
        return cls(order, page_bytes, time, used, data.offset)


@dataclass(frozen=True)
class Entries:
    """Data entries in the order of the pages: where each begins (in words), its bytes, its time as recorded."""

    places: Places
    sizes: NDArray[np.int32]
    times: NDArray[np.uint64]


@dataclass(frozen=True)
class Loss:
    """Events lost before a page: how many (-1: not counted), and the page's own time."""

    page: int
    count: int
    time: int


def walk(data: NDArray[np.uint8], layout: Layout, batch_pages: int = _BATCH_PAGES) -> tuple[Entries, list[Loss]]:
    """Return the entries of pages that lie one after the other, and where events were lost. Raises TraceError."""
    times, used = _headers(data, layout)
    losses = _losses(data, layout, times, used)
    words = data.view(f"{layout.order}u4")
    page_words = layout.page_bytes // 4
    first = np.arange(len(times), dtype=np.int64) * page_words + layout.data_offset // 4
    last = first + (used & (_LOST_COUNTED - 1)).astype(np.int64) // 4
    parts = [
        _walk_batch(
            words, layout.order, first[at : at + batch_pages], last[at : at + batch_pages], times[at : at + batch_pages]
        )
        for at in range(0, len(times), batch_pages)
    ]
    return joined(parts), losses


def joined(parts: Sequence[Entries]) -> Entries:
    """Return entries one after the other."""
    parts = parts or [Entries(np.zeros(0, np.int64), np.zeros(0, np.int32), np.zeros(0, np.uint64))]
    if len(parts) == 1:
        return parts[0]
    return Entries(
        np.concatenate([part.places for part in parts]),
        np.concatenate([part.sizes for part in parts]),
        np.concatenate([part.times for part in parts]),
    )


def _headers(data: NDArray[np.uint8], layout: Layout) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return each page's time and its word of used bytes and flags."""
    pages = data.reshape(-1, layout.page_bytes)
    order = layout.order
    times = pages[:, layout.time.offset : layout.time.end].copy().view(f"{order}u8")[:, 0].astype(np.uint64)
    used = pages[:, layout.used.offset : layout.used.end].copy().view(f"{order}u{layout.used.size}")[:, 0]
    used = used.astype(np.uint64) & np.uint64((1 << 32) - 1)
    bytes_ = used & np.uint64(_LOST_COUNTED - 1)
    if ((bytes_ > layout.page_bytes - layout.data_offset) | (bytes_ % 4 != 0)).any():
        raise TraceError("the trace is damaged: a page says that it holds more than it can")
    return times, used


def _losses(data: NDArray[np.uint8], layout: Layout, times: NDArray[np.uint64], used: NDArray[np.uint64]) -> list[Loss]:
    found = []
    for page in np.flatnonzero(used & np.uint64(_LOST)):
        count = -1
        at = layout.data_offset + int(used[page]) % _LOST_COUNTED
        if int(used[page]) & _LOST_COUNTED and at + layout.used.size <= layout.page_bytes:
            start = int(page) * layout.page_bytes + at
            stored = data[start : start + layout.used.size].tobytes()
            count = int.from_bytes(stored, "little" if layout.order == "<" else "big")
        found.append(Loss(int(page), count, int(times[page])))
    return found


def _walk_batch(words: Words, order: str, first: Places, last: Places, times: NDArray[np.uint64]) -> Entries:
    """Walk pages side by side: one step takes the next entry of every page."""
    active = np.flatnonzero(first < last)
    place, end, time = first[active], last[active], times[active].copy()
    count = np.zeros(len(first), np.int64)  # entries of each page so far
    steps: list[_Found] = []
    while len(active) > _FEW_PAGES:
        step = _Step.at(words[place], order, place, end, time)
        is_data = step.kind <= _LONGEST_DATA
        all_data = bool(is_data.all())
        if len(long := np.flatnonzero(step.kind == _LONG_DATA)):
            _take_long(words, step, long)
        if not all_data:
            _take_rest(words, step, np.flatnonzero(~is_data))
        time = step.time + step.delta
        place = place + step.length
        if (place > end).any():
            raise TraceError("the trace is damaged: an entry reaches beyond the end of its page")
        if all_data:
            steps.append((active, count[active], step.data, step.sizes, time))
            count[active] += 1
        else:
            pages = active[is_data]
            steps.append((pages, count[pages], step.data[is_data], step.sizes[is_data], time[is_data]))
            count[pages] += 1
        going = place < end
        if not going.all():
            active, place, end, time = active[going], place[going], end[going], time[going]
    rest = [_walk_page(words, order, int(place[i]), int(end[i]), int(time[i])) for i in range(len(active))]
    for page, found in zip(active, rest, strict=True):
        if len(found.places):
            ranks = count[page] + np.arange(len(found.places))
            steps.append((np.full(len(ranks), page), ranks, found.places, found.sizes, found.times))
            count[page] += len(ranks)
    return _in_page_order(steps, count)


def _in_page_order(steps: list[_Found], count: Places) -> Entries:
    total = int(count.sum())
    begin = np.cumsum(count) - count
    entries = Entries(np.empty(total, np.int64), np.empty(total, np.int32), np.empty(total, np.uint64))
    for pages, ranks, data, sizes, times in steps:
        to = begin[pages] + ranks
        entries.places[to] = data
        entries.sizes[to] = sizes
        entries.times[to] = times
    return entries


@dataclass
class _Step:
    """The next entry of each of some pages."""

    place: Places
    end: Places
    kind: Places
    delta: NDArray[np.uint64]
    time: NDArray[np.uint64]
    length: Places  # of the entry with its head, in words
    data: Places
    sizes: Places

    @classmethod
    def at(cls, head: Words, order: str, place: Places, end: Places, time: NDArray[np.uint64]) -> "_Step":
        """Return the step as it is where all are short data entries. Bit fields lie as the bytes do."""
        if order == "<":
            kind, delta = (head & 31).astype(np.int64), (head >> 5).astype(np.uint64)
        else:
            kind, delta = (head >> _TIME_BITS).astype(np.int64), (head & _TIME_MASK).astype(np.uint64)
        return cls(place, end, kind, delta, time, kind + 1, place + 1, 4 * kind)


def _take_long(words: Words, step: "_Step", which: Places) -> None:
    """Take long data entries, whose second word is the length of the data and of itself."""
    extra = _second_words(words, step, which)
    if (extra < 4).any():
        raise TraceError("the trace is damaged: an entry has less than no data")
    sizes = (extra - 1) & ~3  # without the word itself, in whole words
    step.sizes[which] = sizes
    step.length[which] = (sizes >> 2) + 2
    step.data[which] += 1


def _take_rest(words: Words, step: "_Step", which: Places) -> None:
    """Take entries that hold no data: correct what a step holds of them."""
    null = (step.kind[which] == _PADDING) & (step.delta[which] == 0)
    ends = which[null]
    step.length[ends] = step.end[ends] - step.place[ends]  # nothing follows on this page
    which = which[~null]
    kind, word = step.kind[which], _second_words(words, step, which)
    at, extra = which[kind == _PADDING], word[kind == _PADDING]
    step.length[at] = 1 + (extra + 3) // 4  # a discarded entry; its time counts, as in libtraceevent
    at, extra = which[kind == _TIME_EXTEND], word[kind == _TIME_EXTEND].astype(np.uint64)
    step.length[at] = 2
    step.delta[at] += extra << np.uint64(_TIME_BITS)
    at, extra = which[kind == _TIME_STAMP], word[kind == _TIME_STAMP].astype(np.uint64)
    step.length[at] = 2
    high = step.time[at] & np.uint64(_STAMP_HIGH)
    stamp = (extra << np.uint64(_TIME_BITS)) + step.delta[at] | high
    stamp[(high != 0) & (stamp < step.time[at])] += np.uint64(1 << _STAMP_BITS)
    step.time = step.time.copy()  # the times of the step before are the same array
    step.time[at], step.delta[at] = stamp, 0


def _second_words(words: Words, step: "_Step", which: Places) -> Places:
    if (step.place[which] + 2 > step.end[which]).any():
        raise TraceError("the trace is damaged: an entry is cut off by the end of its page")
    return words[step.place[which] + 1].astype(np.int64)


def _special(kind: int, delta: int, word: int, time: int) -> tuple[int, int, int, int, int]:
    """Return length and place of data in words, its bytes, the time to add, and the time that is set (or -1)."""
    if kind == _LONG_DATA:  # the word is the length of the data and of itself
        if word < 4:
            raise TraceError("the trace is damaged: an entry has less than no data")
        size = -(-(word - 4) // 4) * 4
        return 2 + size // 4, 2, size, delta, -1
    if kind == _PADDING:  # a discarded entry of so many bytes; its time counts, as in libtraceevent
        return 1 + -(-word // 4), 1, 0, delta, -1
    whole = (word << _TIME_BITS) + delta
    if kind == _TIME_EXTEND:
        return 2, 1, 0, whole, -1
    time %= 1 << 64
    stamp = whole | (time & _STAMP_HIGH)
    if time & _STAMP_HIGH and stamp < time:
        stamp += 1 << _STAMP_BITS
    return 2, 1, 0, 0, stamp % (1 << 64)


def _walk_page(words: Words, order: str, place: int, end: int, time: int) -> Entries:
    """Walk one page, or the rest of one, entry by entry."""
    page = words[place:end].tolist()
    places, sizes, times = [], [], []
    at, size_words = 0, end - place
    little = order == "<"
    while at < size_words:
        head = page[at]
        kind, delta = (head & 31, head >> 5) if little else (head >> _TIME_BITS, head & _TIME_MASK)
        if 0 < kind <= _LONGEST_DATA:
            length, payload, size, stamp = kind + 1, 1, 4 * kind, -1
        elif kind == _PADDING and delta == 0:
            break
        elif at + 2 > size_words:
            raise TraceError("the trace is damaged: an entry is cut off by the end of its page")
        else:
            length, payload, size, delta, stamp = _special(kind, delta, page[at + 1], time)
        time = time + delta if stamp < 0 else stamp
        if at + length > size_words:
            raise TraceError("the trace is damaged: an entry reaches beyond the end of its page")
        if kind <= _LONGEST_DATA:
            places.append(place + at + payload)
            sizes.append(size)
            times.append(time % (1 << 64))
        at += length
    return Entries(np.array(places, np.int64), np.array(sizes, np.int32), np.array(times, np.uint64))
