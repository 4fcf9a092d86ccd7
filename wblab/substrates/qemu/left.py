"""What a guest in QEMU has left, taken over: text of a serial port, of somebody else.

Each file lies behind a line with its name and its length. An archive of tar could claim more than it holds.
"""

import base64
import re
import zlib
from collections.abc import Iterator
from pathlib import Path

from wblab.core.errors import WblabError
from wblab.core.units import format_bytes
from wblab.host.collect import is_expected

_MOST_FILES = 1000
_HEAD = re.compile(rb"([^ \n]{1,255}) ([0-9]{1,12})\n")


def take_over(text: bytes, run: Path, most_bytes: int) -> None:
    """Write the files of a run that a guest sent to its directory. most_bytes: in all. Raises WblabError, OSError.

    What a run does not consist of stays.
    """
    try:
        packed = base64.b64decode(text, validate=False)
        unpacking = zlib.decompressobj()
        content = unpacking.decompress(packed, most_bytes)
        if not unpacking.eof and len(content) >= most_bytes:
            raise ValueError(f"they are more than {format_bytes(most_bytes)}: trace fewer events")
        if not unpacking.eof:
            raise ValueError("they are cut off")
        files = dict(_files(content))
    except (ValueError, zlib.error) as error:
        raise WblabError(f"the guest's results cannot be read: {error}") from None
    for name, data in files.items():
        with (run / name).open("xb") as file:
            file.write(data)


def _files(content: bytes) -> Iterator[tuple[str, memoryview]]:
    at = number = 0
    while at < len(content):
        head = _HEAD.match(content, at)
        if head is None:
            raise ValueError("a file has no name and length")
        begin, at = head.end(), head.end() + int(head[2])
        number += 1
        if at > len(content) or number > _MOST_FILES:
            raise ValueError("a file is cut off" if at > len(content) else f"there are more than {_MOST_FILES} files")
        name = head[1].decode(errors="replace")
        if is_expected(name):
            yield name, memoryview(content)[begin:at]
