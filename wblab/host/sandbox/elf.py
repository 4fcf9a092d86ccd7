"""Which loader an executable needs, which is executed with it. Source: elf(5)."""

import struct
from pathlib import Path

_PT_INTERP = 3


def loader(path: Path | str) -> str | None:
    """Return the loader's path that a 64-bit ELF file names; None for a static one, or what is no such file."""
    try:
        with Path(path).open("rb") as file:
            header = file.read(64)
            if header[:6] != b"\x7fELF\x02\x01" or len(header) < 64:
                return None
            offset, size, count = struct.unpack_from("<Q14xHH", header, 32)
            for number in range(count):
                file.seek(offset + number * size)
                kind, _, start, _, _, length = struct.unpack("<IIQQQQ", file.read(40))
                if kind == _PT_INTERP:
                    file.seek(start)
                    return file.read(min(length, 4096)).rstrip(b"\0").decode(errors="surrogateescape")
    except (OSError, ValueError, struct.error):
        pass
    return None
