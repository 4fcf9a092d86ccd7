"""A built kernel in one file: a tar archive of three files, compressed with xz.

The same kernel gives the same bytes: order, times, owners and modes are fixed. So a file that somebody else has made is
read without extracting it: what is in it is looked for where `to_file` puts it, and then all of it must be, byte for
byte, what `to_file` makes of what was found. Links, devices, further or repeated members and other names are not that.
"""

import hashlib
import io
import json
import lzma
import re
import tarfile
from dataclasses import dataclass

from wblab.core.units import format_bytes
from wblab.kernels import identity
from wblab.kernels.identity import Identity
from wblab.kernels.kernel import MOST_CONFIG_BYTES, read_image

_FOLDER = "wblab-kernel-1"  # counts up when the format changes
# In this order; the most bytes that each may have. The lab's kernels have 16 MB.
_MEMBERS = {"identity.json": 64 << 10, "config": MOST_CONFIG_BYTES, "linux": 128 << 20}
_SERIES = re.compile(r"\d+\.\d+")
_BLOCK = tarfile.BLOCKSIZE
_MOST_TAR_BYTES = sum(_MEMBERS.values()) + 64 * _BLOCK  # with headers, and zeros at the end
_MOST_XZ_MEMORY_BYTES = 64 << 20
_PRESET = 6
MOST_BYTES = 64 << 20  # of the file


@dataclass(frozen=True)
class Packed:
    """One built kernel, without its place."""

    identity: Identity
    config: bytes
    linux: bytes

    def check(self) -> None:
        """Raise ValueError where files are not what the identity says, or its id is not that of what it names."""
        self.identity.check()
        for name, content in (("linux", self.linux), ("config", self.config)):
            if hashlib.sha256(content).hexdigest() != getattr(self.identity, f"{name}_sha256"):
                raise ValueError(f"the digest of its {name!r} is not that of its identity.json")
        image = read_image(self.linux)
        if image is None:
            raise ValueError("its 'linux' is no User Mode Linux")
        if image.release != self.identity.release or image.config not in (None, self.config):
            raise ValueError("its 'linux' has another release or configuration than its identity.json")
        if not _SERIES.fullmatch(self.identity.series) or self.identity.series != image.series:
            raise ValueError(f"its identity.json has the series {self.identity.series!r} for Linux {image.release}")

    def files(self) -> dict[str, bytes]:
        """Return the contents by names, in the order in which they are packed."""
        described = json.dumps(self.identity.values(), indent=2) + "\n"
        return {"identity.json": described.encode(), "config": self.config, "linux": self.linux}


def to_file(packed: Packed) -> bytes:
    """Return the packed kernel: the same bytes for the same kernel, where liblzma is the same."""
    return lzma.compress(_to_tar(packed), preset=_PRESET)


def from_file(content: bytes) -> Packed:
    """Return the kernel in a file that may be anybody's, checked. Raises ValueError that says what is wrong."""
    tar = _decompress(content)
    found = _members(tar)
    packed = Packed(identity.parse(found["identity.json"]), found["config"], found["linux"])
    if _to_tar(packed) != tar:
        raise ValueError("it is not as 'wblab kernel pack' makes it: it holds more, or other owners, modes or times")
    packed.check()
    return packed


def _to_tar(packed: Packed) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, content in packed.files().items():
            member = tarfile.TarInfo(f"{_FOLDER}/{name}")
            member.size = len(content)
            member.mode = mode(name)
            archive.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


def mode(name: str) -> int:
    """Return the mode of a file of a kernel, in the archive and in the cache."""
    return 0o755 if name == "linux" else 0o644


def _decompress(content: bytes) -> bytes:
    """Return what was compressed, up to the bound: an archive of a few bytes can hold very many."""
    try:
        unpacking = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_MOST_XZ_MEMORY_BYTES)
        tar = unpacking.decompress(content, _MOST_TAR_BYTES)
    except (lzma.LZMAError, EOFError):
        raise ValueError("it is not compressed with xz, or damaged") from None
    if not unpacking.eof:
        raise ValueError(f"it is cut off, or holds more than {format_bytes(_MOST_TAR_BYTES)}")
    if unpacking.unused_data:
        raise ValueError("something follows behind the archive")
    return tar


def _members(tar: bytes) -> dict[str, bytes]:
    """Return the contents of the files, each read where it must be."""
    found = {}
    at = 0
    for name, most_bytes in _MEMBERS.items():
        try:
            header = tarfile.TarInfo.frombuf(tar[at : at + _BLOCK], "ascii", "strict")
        except (tarfile.TarError, ValueError):
            raise ValueError(f"it holds no {name!r} where one must be") from None
        if header.name != f"{_FOLDER}/{name}" or header.type != tarfile.REGTYPE:
            raise ValueError(f"it holds {header.name!r}, where the file {_FOLDER}/{name} must be")
        at += _BLOCK
        if not 0 <= header.size <= min(most_bytes, len(tar) - at):
            raise ValueError(f"its {name!r} is cut off, or has more than {format_bytes(most_bytes)}")
        found[name] = tar[at : at + header.size]
        at += -(-header.size // _BLOCK) * _BLOCK
    return found
