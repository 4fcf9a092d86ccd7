"""Decode pages of the kernel's ring buffer (include/linux/ring_buffer.h, kernel/trace/ring_buffer.c).

An entry begins with a 32-bit word: 5 bits of type and length, 27 bits of time since the previous entry. In memory all
pages are one array of such words, and places are word offsets in it.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tracecmd.errors import TraceError
from tracecmd.formats import Field

_LONG_DATA, _LONGEST_DATA, _PADDING, _TIME_EXTEND, _TIME_STAMP = 0, 28, 29, 30, 31
_TIME_BITS = 27
_TIME_MASK = (1 << _TIME_BITS) - 1
# A time stamp has 59 bits; the upper ones come from the time so far (rb_fix_abs_ts()).
_STAMP_BITS = 59
_STAMP_HIGH = ~((1 << _STAMP_BITS) - 1) & (1 << 64) - 1
# Flags in the word of a page that holds the number of used bytes.
_LOST, _LOST_COUNTED = 1 << 31, 1 << 30
# Pages decoded side by side: enough for NumPy to pay off, few enough to stay in the processor's cache.
_BATCH_PAGES = 8192
# Below this number of remaining pages, decoding them one after the other is faster.
_FEW_PAGES = 24

Words = NDArray[np.uint32]
Places = NDArray[np.int64]
Times = NDArray[np.uint64]


@dataclass(frozen=True)
class PageLayout:
    """The layout of a page; sizes and offsets in bytes."""

    order: str
    page_bytes: int
    time: Field
    used: Field
    data_offset: int

    @classmethod
    def of(cls, fields: dict[str, Field], order: str, page_bytes: int) -> "PageLayout":
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
    """Data entries in page order: the place of each (in words), its bytes, its time as recorded."""

    places: Places
    sizes: NDArray[np.int32]
    times: NDArray[np.uint64]


@dataclass(frozen=True)
class Loss:
    """Events lost before a page: their number (-1: not counted), and the page's time."""

    page: int
    count: int
    time: int


def walk(
    data: NDArray[np.uint8], layout: PageLayout, batch_pages: int = _BATCH_PAGES, few_pages: int = _FEW_PAGES
) -> tuple[Entries, list[Loss]]:
    """Return the entries of consecutive pages, and where events were lost. Raises TraceError.

    batch_pages: walked side by side at a time. few_pages: the last of a batch, walked one after the other.
    """
    times, used = _headers(data, layout)
    losses = _losses(data, layout, times, used)
    words = data.view(f"{layout.order}u4")
    first = np.arange(len(times), dtype=np.int64) * (layout.page_bytes // 4) + layout.data_offset // 4
    last = first + (used & (_LOST_COUNTED - 1)).astype(np.int64) // 4
    parts = [Entries(np.zeros(0, np.int64), np.zeros(0, np.int32), np.zeros(0, np.uint64))]
    for at in range(0, len(times), batch_pages):
        pages = slice(at, at + batch_pages)
        places = _places(words, layout.order, first[pages], last[pages], few_pages)
        parts.append(_entries(words, layout.order, places, first[pages], times[pages]))
    together = [np.concatenate([getattr(part, name) for part in parts]) for name in ("places", "sizes", "times")]
    return Entries(*together), losses


def _headers(data: NDArray[np.uint8], layout: PageLayout) -> tuple[Times, Times]:
    """Return each page's time, and its word of used bytes and flags."""
    pages = data.reshape(-1, layout.page_bytes)
    order = layout.order
    times = pages[:, layout.time.offset : layout.time.end].copy().view(f"{order}u8")[:, 0].astype(np.uint64)
    used = pages[:, layout.used.offset : layout.used.end].copy().view(f"{order}u{layout.used.size}")[:, 0]
    used = used.astype(np.uint64) & np.uint64((1 << 32) - 1)
    bytes_ = used & np.uint64(_LOST_COUNTED - 1)
    if ((bytes_ > layout.page_bytes - layout.data_offset) | (bytes_ % 4 != 0)).any():
        raise TraceError("the trace is damaged: a page claims more data than it can hold")
    return times, used


def _losses(data: NDArray[np.uint8], layout: PageLayout, times: Times, used: Times) -> list[Loss]:
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


def _places(words: Words, order: str, first: Places, last: Places, few_pages: int) -> Places:
    """Return the places of all entries of some pages, in page order.

    Pages are decoded side by side: each step takes the next entry of each page.
    """
    place, end = first[first < last], last[first < last]
    steps = []
    while len(place) > few_pages:
        steps.append(place)
        place = place + _lengths(words, order, place, end)
        if (place > end).any():
            raise TraceError("the trace is damaged: an entry extends beyond the end of its page")
        going = place < end
        if not going.all():
            place, end = place[going], end[going]
    steps += [_rest_of_page(words, order, *page) for page in zip(place.tolist(), end.tolist(), strict=True)]
    return np.sort(np.concatenate([*steps, np.zeros(0, np.int64)]))


def _lengths(words: Words, order: str, place: Places, end: Places) -> Places:
    """Return the length of each entry in words, including its head."""
    kind, delta = _heads(words, order, place)
    length: Places = np.add(kind, 1, dtype=np.int64)
    rest = np.flatnonzero(_is_special(kind))
    if len(rest):
        length[rest] = _special_lengths(words, kind[rest], delta[rest], place[rest], end[rest])
    return length


def _special_lengths(words: Words, kind: Words, delta: Words, place: Places, end: Places) -> Places:
    is_tail = (kind == _PADDING) & (delta == 0)  # the rest of the page is empty
    if (~is_tail & (place + 2 > end)).any():
        raise TraceError("the trace is damaged: an entry is cut off by the end of its page")
    second = words[np.where(is_tail, place, place + 1)].astype(np.int64)
    is_long = kind == _LONG_DATA  # the second word is the length of the data and of itself
    if (is_long & (second < 4)).any():
        raise TraceError("the trace is damaged: an entry has a negative data length")
    length = np.where(is_long | (kind == _PADDING), 1 + (second + 3) // 4, 2)
    return np.where(is_tail, end - place, length)


def _rest_of_page(words: Words, order: str, place: int, end: int) -> Places:
    """Decode one page, or the rest of one, entry by entry."""
    page = words[place:end].tolist()
    found, at, size_words = [], 0, end - place
    while at < size_words:
        found.append(place + at)
        head = page[at]
        kind, delta = (head & 31, head >> 5) if order == "<" else (head >> _TIME_BITS, head & _TIME_MASK)
        if 0 < kind <= _LONGEST_DATA:
            at += kind + 1
        elif kind == _PADDING and delta == 0:
            break
        elif at + 2 > size_words:
            raise TraceError("the trace is damaged: an entry is cut off by the end of its page")
        elif kind == _LONG_DATA and page[at + 1] < 4:
            raise TraceError("the trace is damaged: an entry has a negative data length")
        else:
            at += 1 + (page[at + 1] + 3) // 4 if kind in (_LONG_DATA, _PADDING) else 2
        if at > size_words:
            raise TraceError("the trace is damaged: an entry extends beyond the end of its page")
    return np.array(found, np.int64)


def _heads(words: Words, order: str, places: Places) -> tuple[Words, Words]:
    """Return each entry's kind (its length, if it is short) and the time since the previous one."""
    head = words[places].astype(np.uint32, copy=False)
    if order == "<":  # bit fields follow the byte order
        return head & np.uint32(31), head >> np.uint32(5)
    return head >> np.uint32(_TIME_BITS), head & np.uint32(_TIME_MASK)


def _is_special(kind: Words) -> NDArray[np.bool]:
    """Return which entries are more than a head and short data."""
    return kind - 1 >= _LONGEST_DATA  # 0 wraps around, and so counts too


def _entries(words: Words, order: str, places: Places, first: Places, times: Times) -> Entries:
    """Return the data entries among all entries of some pages; `times` are the pages' times."""
    kind, delta = _heads(words, order, places)
    rest = np.flatnonzero(_is_special(kind))
    elapsed, data, sizes = delta.astype(np.uint64), places + 1, (4 * kind).astype(np.int32)
    stamps, stamp = rest[:0], elapsed[:0]
    if len(rest):
        is_tail = (kind[rest] == _PADDING) & (delta[rest] == 0)
        second = words[np.where(is_tail, places[rest], places[rest] + 1)].astype(np.int64)
        special = kind[rest]
        at, word = rest[special == _LONG_DATA], second[special == _LONG_DATA]
        data[at] += 1
        sizes[at] = (word - 1) & ~3  # without the word itself, in whole words
        whole = (second.astype(np.uint64) << np.uint64(_TIME_BITS)) + elapsed[rest]
        elapsed[rest[special == _TIME_EXTEND]] = whole[special == _TIME_EXTEND]
        stamps, stamp = rest[special == _TIME_STAMP], whole[special == _TIME_STAMP]
        elapsed[stamps] = 0
    found = _times(elapsed, np.searchsorted(places, first), times, stamps, stamp)
    if (is_data := kind <= _LONGEST_DATA).all():
        return Entries(data, sizes, found)
    return Entries(data[is_data], sizes[is_data], found[is_data])


def _times(elapsed: Times, pages: Places, times: Times, stamps: Places, stamp: Times) -> Times:
    """Return the time of each entry: its page's time, or that of the page's last stamp, plus the time elapsed since.

    `pages` and `stamps` are the indices of entries at which pages, and absolute times, begin.
    """
    total: Times = np.cumsum(elapsed, dtype=np.uint64)
    begin = np.concatenate([pages, stamps])
    order = np.argsort(begin, kind="stable")  # a page's begin sorts before a stamp that is its first entry
    begin, lengths = begin[order], np.diff(begin[order], append=len(elapsed))
    start = np.concatenate([times, stamp])[order]
    before = np.concatenate([np.zeros(1, np.uint64), total])[begin]
    found: Times = np.repeat(start - before, lengths) + total
    # Each stamp follows either a page's begin, if it is the first entry, or another entry: take the time of that.
    if len(stamps) and max(start.max(), found.max()) >> np.uint64(_STAMP_BITS):
        _complete(start, before, np.flatnonzero(order >= len(pages)))
        found = np.repeat(start - before, lengths) + total
    return found


def _complete(start: Times, before: Times, stamps: Places) -> None:
    """Complete the stamps' missing bits in order, from the time before each (rb_fix_abs_ts())."""
    for i in stamps.tolist():
        so_far = (int(start[i - 1]) + int(before[i]) - int(before[i - 1])) % (1 << 64)
        stamp = int(start[i]) | so_far & _STAMP_HIGH
        if so_far & _STAMP_HIGH and stamp < so_far:
            stamp += 1 << _STAMP_BITS
        start[i] = stamp % (1 << 64)
