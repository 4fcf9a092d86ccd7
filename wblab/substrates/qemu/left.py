"""What a guest in QEMU has left, taken over: text of a serial port, of somebody else."""

import base64
import io
import tarfile
import zlib
from pathlib import Path

from wblab.core.errors import WblabError
from wblab.host.collect import is_expected

_MOST_FILES = 1000


def take_over(text: bytes, run: Path, most_bytes: int) -> None:
    """Write the files of a run that a guest sent to its directory. most_bytes: in all. Raises WblabError."""
    try:
        packed = base64.b64decode(text, validate=False)
        unpacking = zlib.decompressobj()
        archive = unpacking.decompress(packed, most_bytes)
        if not unpacking.eof:
            raise ValueError("it is cut off, or too large")
        files = dict(_files(archive))
    except (ValueError, zlib.error, tarfile.TarError, EOFError) as error:
        raise WblabError(f"the guest's results cannot be read: {error}") from None
    for name, content in files.items():
        with (run / name).open("xb") as file:
            file.write(content)


def _files(archive: bytes) -> list[tuple[str, bytes]]:
    found: list[tuple[str, bytes]] = []
    with tarfile.open(fileobj=io.BytesIO(archive), mode="r:") as members:
        for member in members:
            if is_expected(member.name) and member.isreg() and (source := members.extractfile(member)):
                found.append((member.name, source.read()))
            if len(found) > _MOST_FILES:
                raise ValueError("it has too many files")
    return found
