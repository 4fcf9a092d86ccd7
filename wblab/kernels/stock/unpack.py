"""Packed kernels and modules: what they were packed with shows in their first bytes."""

import bz2
import lzma
import zlib
from collections.abc import Callable
from typing import Any, Protocol


class _Unpacking(Protocol):
    @property
    def eof(self) -> bool: ...


def unpacked(data: bytes, most_bytes: int) -> bytes:
    """Return what was packed; bytes may follow its end. Raises ValueError if it is damaged, or longer than that."""
    for magic, unpack in _WAYS.items():
        if data.startswith(magic):
            return unpack(data, most_bytes)
    raise ValueError("it is packed in a way that the lab does not know")


def _whole(unpacking: _Unpacking, found: bytes) -> bytes:
    if not unpacking.eof:
        raise ValueError("it is cut off, or too large")
    return found


def _gzip(data: bytes, most_bytes: int) -> bytes:
    unpacking = zlib.decompressobj(zlib.MAX_WBITS | 16)
    try:
        return _whole(unpacking, unpacking.decompress(data, most_bytes))
    except zlib.error as error:
        raise ValueError(f"it cannot be unpacked ({error})") from None


def _by(make: Callable[[], Any]) -> Callable[[bytes, int], bytes]:
    def unpack(data: bytes, most_bytes: int) -> bytes:
        unpacking = make()
        try:
            return _whole(unpacking, unpacking.decompress(data, most_bytes))
        except (OSError, lzma.LZMAError) as error:
            raise ValueError(f"it cannot be unpacked ({error})") from None

    return unpack


def _zstd(data: bytes, most_bytes: int) -> bytes:
    import zstandard  # no other verb takes time for it

    parts, length = [], 0
    unpacking = zstandard.ZstdDecompressor().decompressobj()
    try:
        for start in range(0, len(data), _PIECE):
            parts.append(unpacking.decompress(data[start : start + _PIECE]))
            length += len(parts[-1])
            if unpacking.eof or length > most_bytes:
                break
    except zstandard.ZstdError as error:
        raise ValueError(f"it cannot be unpacked ({error})") from None
    if length > most_bytes:
        raise ValueError("it is cut off, or too large")
    return _whole(unpacking, b"".join(parts))


_PIECE = 1 << 12
_WAYS: dict[bytes, Callable[[bytes, int], bytes]] = {
    b"\x1f\x8b": _gzip,
    b"\xfd7zXZ": _by(lzma.LZMADecompressor),
    b"BZh": _by(bz2.BZ2Decompressor),
    b"\x28\xb5\x2f\xfd": _zstd,
}
