"""Fields of many records as arrays.

A record's place is its offset in 4-byte words, as the ring buffer aligns records. Results are in this machine's byte
order.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tracecmd.errors import TraceError
from tracecmd.formats import Field

Bytes = NDArray[np.uint8]
Places = NDArray[np.int64]
_NUMBERS = (1, 2, 4, 8)


def number_type(size: int, signed: bool, order: str = "=") -> np.dtype[Any] | None:
    """Return the type of a number of this size in bytes; None if there is none."""
    return np.dtype(f"{order}{'i' if signed else 'u'}{size}") if size in _NUMBERS else None


def items(data: Bytes, offset: int, type_: np.dtype[Any]) -> NDArray[Any]:
    """Return a view whose item i is the value at `offset` from place i. Items overlap; nothing is copied."""
    count = (len(data) - offset - type_.itemsize) // 4 + 1
    if count <= 0:
        return np.empty(0, type_)
    return np.ndarray((count,), type_, data, offset, (4,))


def numbers(data: Bytes, places: Places, offset: int, type_: np.dtype[Any]) -> NDArray[Any]:
    """Return one number of each record, in this machine's byte order."""
    return items(data, offset, type_)[places].astype(type_.newbyteorder("="), copy=False)


def fixed(data: Bytes, places: Places, field: Field, order: str) -> NDArray[Any]:
    """Return a field of fixed size: numbers, rows of numbers, texts, or bytes."""
    item = number_type(field.item_bytes if field.is_array else field.size, field.signed, order)
    if item is not None and not field.is_array:
        return numbers(data, places, field.offset, item)
    whole = items(data, field.offset, np.dtype(f"V{field.size}"))[places]
    rows = whole.view(np.uint8).reshape(len(places), field.size)
    if field.is_text:
        return texts(rows)
    return whole if item is None else rows.view(item).astype(item.newbyteorder("="), copy=False)


def varying(data: Bytes, places: Places, sizes: NDArray[np.int32], field: Field, order: str) -> NDArray[np.object_]:
    """Return a field of varying length: texts, or an array for each record."""
    starts, lengths = _extents(data, places, sizes, field, order)
    found = np.empty(len(places), object)
    for length, which in grouped(lengths):
        rows = _rows(data, starts[which], length)
        if field.is_text:
            found[which] = texts(rows)
            continue
        item = number_type(field.item_bytes, field.signed, order)
        if item is not None and length % item.itemsize == 0:
            values = rows.view(item) if length else np.zeros((len(which), 0), item)
            values = values.astype(item.newbyteorder("="))
        else:
            values = rows  # items that only the kernel can interpret: their bytes
        for place, row in zip(which.tolist(), values, strict=True):
            found[place] = row
    return found


def texts(rows: Bytes, known: dict[bytes, str] | None = None) -> NDArray[np.object_]:
    """Return rows of bytes as texts, each up to its first NUL. Equal texts share one object, also with `known`."""
    count, width = rows.shape
    if not count or not width:
        return np.full(count, "", object)
    wide = rows
    if width % 8 or not rows.flags.c_contiguous:
        wide = np.zeros((count, -(-width // 8) * 8), np.uint8)
        wide[:, :width] = rows
    words = wide.view(np.uint64)  # compared eight bytes at a time
    differs = np.ones(count, bool)
    differs[1:] = False
    for part in words.T:
        differs[1:] |= part[1:] != part[:-1]
    changes = np.flatnonzero(differs)
    known = {} if known is None else known
    found = wide[changes].view(f"S{wide.shape[1]}")[:, 0].tolist()  # without trailing NULs
    for raw in set(found).difference(known):
        known[raw] = raw.partition(b"\0")[0].decode("utf-8", "backslashreplace")
    decoded = np.array([*map(known.__getitem__, found), None], object)[:-1]
    return np.repeat(decoded, np.diff(changes, append=count))


def grouped(keys: NDArray[Any]) -> list[tuple[int, Places]]:
    """Return each distinct number and its places."""
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    first = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
    present = [*ordered[:1].tolist(), *ordered[first].tolist()]
    return list(zip(present, np.split(order, first), strict=False))  # without keys, one empty part


def _rows(data: Bytes, starts: Places, length: int) -> Bytes:
    if not length or not len(starts):
        return np.zeros((len(starts), length), np.uint8)
    every: NDArray[Any] = np.ndarray((len(data) - length + 1,), f"V{length}", data, 0, (1,))
    return every[starts].view(np.uint8).reshape(len(starts), length)


def _extents(data: Bytes, places: Places, sizes: NDArray[np.int32], field: Field, order: str) -> tuple[Places, Places]:
    """Return the byte offset and the length of each record's value."""
    if field.dynamic in ("data", "rel"):
        said = numbers(data, places, field.offset, np.dtype(f"{order}u4")).astype(np.int64)
        begin, lengths = said & 0xFFFF, said >> 16
        if field.dynamic == "rel":
            begin += field.end
    else:
        begin = np.full(len(places), field.offset, np.int64)
        lengths = sizes.astype(np.int64) - field.offset
        if field.dynamic != "rest":
            lengths = np.minimum(lengths, field.size)
        if field.item_bytes > 1:
            lengths -= lengths % field.item_bytes
    if len(places) and ((begin + lengths > sizes) | (lengths < 0)).any():
        raise TraceError(f"the trace is damaged: {field.name!r} extends beyond the end of its event")
    return places * 4 + begin, lengths
