"""What a guest in QEMU has left, taken over: text of a serial port, of somebody else.

Each file lies behind a line with its name and its length. An archive of tar could claim more than it holds.
"""

import base64
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

from wblab.core.errors import WblabError
from wblab.core.files import parse_json
from wblab.core.units import format_bytes
from wblab.host.process.collect import is_expected
from wblab.substrates.qemu.guest.agreed import QUEUES

Queues: TypeAlias = dict[str, dict[str, int | str]]  # attributes by disk
_MOST_FILES = 1000
_MOST_QUEUES_BYTES = 1 << 16
_HEAD = re.compile(rb"([^ \n]{1,255}) ([0-9]{1,12})\n")


def take_over(text: bytes, run: Path, most_bytes: int) -> Queues:
    """Write the files of a run that a guest sent to its directory; return the queues of its disks.

    most_bytes: in all. What a run does not consist of stays. Raises WblabError, OSError.
    """
    try:
        packed = base64.b64decode(text, validate=False)
        unpacking = zlib.decompressobj()
        content = unpacking.decompress(packed, most_bytes)
        if not unpacking.eof and len(content) >= most_bytes:
            raise ValueError(f"they are more than {format_bytes(most_bytes)}: trace fewer events")
        if not unpacking.eof:
            raise ValueError("they are cut off")
        files = dict(_files_left(content))
        found = _queues(files.pop(QUEUES, b"{}"))
    except (ValueError, zlib.error) as error:
        raise WblabError(f"the guest's results cannot be read: {error}") from None
    for name, data in filter(lambda item: is_expected(item[0]), files.items()):
        with (run / name).open("xb") as file:
            file.write(data)
    return found


def _queues(data: bytes | memoryview) -> Queues:
    """Return the queues that a guest names, by disk. Raises ValueError for anything else, and what is too long."""
    found = parse_json(bytes(data[:_MOST_QUEUES_BYTES]))
    if not isinstance(found, dict):
        raise ValueError("the queues of its disks are none")
    for attributes in found.values():
        if not isinstance(attributes, dict) or not all(type(value) in (int, str) for value in attributes.values()):
            raise ValueError("the queues of its disks are none")
    return found


def _files_left(content: bytes) -> Iterator[tuple[str, memoryview]]:
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
        yield name, memoryview(content)[begin:at]
