"""The names in a stock kernel: those of its trace events among others, from its packed image and its modules."""

import bz2
import gzip
import lzma
import re
import struct
from collections.abc import Iterable

_PAYLOAD_AT = 0x248  # of a bzImage: offset and length of the packed kernel (Documentation/arch/x86/boot.rst)
_SETUP_SECTORS_AT = 0x1F1
_NAME = re.compile(rb"(?<=\0)[a-z][a-z0-9_]{1,63}(?=\0)")


def names(image: bytes, modules: Iterable[bytes]) -> set[str]:
    """Return all texts in a kernel that may be names. Raises ValueError if its image cannot be unpacked."""
    found: set[bytes] = set()
    for part in (unpacked(image), *modules):
        found.update(_NAME.findall(part))
    return {name.decode() for name in found}


def unpacked(image: bytes) -> bytes:
    """Return the kernel in a bzImage. Raises ValueError."""
    start = (image[_SETUP_SECTORS_AT] + 1) * 512
    offset, length = struct.unpack_from("<II", image, _PAYLOAD_AT)
    packed = image[start + offset : start + offset + length]
    try:
        if packed.startswith(b"\x1f\x8b"):
            return gzip.decompress(packed[:-4])  # its size follows
        if packed.startswith(b"\xfd7zXZ"):
            return lzma.LZMADecompressor().decompress(packed)
        if packed.startswith(b"BZh"):
            return bz2.BZ2Decompressor().decompress(packed)
        if packed.startswith(b"\x28\xb5\x2f\xfd"):
            import zstandard

            return zstandard.ZstdDecompressor().decompressobj().decompress(packed)
    except (OSError, EOFError, lzma.LZMAError, ImportError) as error:
        raise ValueError(f"its packed kernel cannot be read ({error})") from None
    raise ValueError("its kernel is packed in a way that the lab does not know")
