"""The names in a stock kernel: those of its trace events among others, from its packed image and its modules."""

import re
import struct
from collections.abc import Iterable

from wblab.kernels.stock import unpack

_PAYLOAD_AT = 0x248  # of a bzImage: offset and length of the packed kernel (Documentation/arch/x86/boot.rst)
_SETUP_SECTORS_AT = 0x1F1
_MOST_BYTES = 1 << 30
_NAME = re.compile(rb"(?<=\0)[a-z][a-z0-9_]{1,63}(?=\0)")


def names(image: bytes, modules: Iterable[bytes]) -> set[str]:
    """Return all texts in a kernel that may be names. Raises ValueError if its image cannot be unpacked."""
    found: set[bytes] = set()
    for part in (unpacked(image), *modules):
        found.update(_NAME.findall(part))
    return {name.decode() for name in found}


def unpacked(image: bytes) -> bytes:
    """Return the kernel in a bzImage. Raises ValueError."""
    if len(image) < _PAYLOAD_AT + 8:
        raise ValueError("it is cut off")
    start = (image[_SETUP_SECTORS_AT] + 1) * 512
    offset, length = struct.unpack_from("<II", image, _PAYLOAD_AT)
    return unpack.unpacked(image[start + offset : start + offset + length], _MOST_BYTES)
