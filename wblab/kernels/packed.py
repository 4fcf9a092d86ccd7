"""A built kernel in one file: a tar archive of three files, compressed with xz.

The same kernel gives the same bytes: order, times, owners and modes are fixed. A file from somebody else is never
extracted. `from_file` reads each member at its fixed place, packs the members again, and compares all bytes. This
refuses links, devices, other names, and additional or repeated members.
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

_FOLDER = "wblab-kernel-1"  # increase the number when the format changes
# Members in order, with the largest permitted size. The lab's kernels have 16 MB.
_MEMBERS = {"identity.json": 64 << 10, "config": MOST_CONFIG_BYTES, "linux": 128 << 20}
_SERIES = re.compile(r"\d+\.\d+")
_BLOCK = tarfile.BLOCKSIZE
_MOST_TAR_BYTES = sum(_MEMBERS.values()) + 64 * _BLOCK  # with headers and final zeros
_MOST_XZ_MEMORY_BYTES = 64 << 20
_PRESET = 6
MOST_BYTES = 64 << 20  # size of the packed file


@dataclass(frozen=True)
class KernelPack:
    """One built kernel, without its path."""

    identity: Identity
    config: bytes
    linux: bytes

    def check(self) -> None:
        """Raise ValueError if the files do not match the identity, or the build id does not follow from its inputs."""
        self.identity.check()
        for name, content in (("linux", self.linux), ("config", self.config)):
            if hashlib.sha256(content).hexdigest() != getattr(self.identity, f"{name}_sha256"):
                raise ValueError(f"the digest of its {name!r} differs from its identity.json")
        image = read_image(self.linux)
        if image is None:
            raise ValueError("its 'linux' is not User Mode Linux")
        if image.release != self.identity.release or image.config not in (None, self.config):
            raise ValueError("its 'linux' has another release or configuration than its identity.json")
        if not _SERIES.fullmatch(self.identity.series) or self.identity.series != image.series:
            raise ValueError(f"its identity.json has the series {self.identity.series!r} for Linux {image.release}")

    def files(self) -> dict[str, bytes]:
        """Return the contents by name, in the order of the archive."""
        described = json.dumps(self.identity.values(), indent=2) + "\n"
        return {"identity.json": described.encode(), "config": self.config, "linux": self.linux}


def to_file(packed: KernelPack) -> bytes:
    """Return the packed kernel: the same bytes for the same kernel and liblzma."""
    return lzma.compress(_to_tar(packed), preset=_PRESET)


def from_file(content: bytes) -> KernelPack:
    """Check a file from anybody and return the kernel in it. Raises ValueError with the reason."""
    tar = _decompress(content)
    found = _members(tar)
    packed = KernelPack(identity.parse(found["identity.json"]), found["config"], found["linux"])
    if _to_tar(packed) != tar:
        raise ValueError(
            "it differs from a file of 'wblab kernel pack': additional content, or other owners, modes or times"
        )
    packed.check()
    return packed


def _to_tar(packed: KernelPack) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, content in packed.files().items():
            member = tarfile.TarInfo(f"{_FOLDER}/{name}")
            member.size = len(content)
            member.mode = mode(name)
            archive.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


def mode(name: str) -> int:
    """Return the mode of a kernel's file in the archive and in the cache."""
    return 0o755 if name == "linux" else 0o644


def _decompress(content: bytes) -> bytes:
    """Decompress up to the size limit, because a small archive can hold very many bytes."""
    try:
        unpacking = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_MOST_XZ_MEMORY_BYTES)
        tar = unpacking.decompress(content, _MOST_TAR_BYTES)
    except (lzma.LZMAError, EOFError):
        raise ValueError("it is not compressed with xz, or it is damaged") from None
    if not unpacking.eof:
        raise ValueError(f"it is cut off, or it holds more than {format_bytes(_MOST_TAR_BYTES)}")
    if unpacking.unused_data:
        raise ValueError("there is more data after the archive")
    return tar


def _members(tar: bytes) -> dict[str, bytes]:
    """Return the contents of the files, each read at its fixed place."""
    found = {}
    at = 0
    for name, most_bytes in _MEMBERS.items():
        try:
            header = tarfile.TarInfo.frombuf(tar[at : at + _BLOCK], "ascii", "strict")
        except (tarfile.TarError, ValueError):
            raise ValueError(f"it holds no {name!r} at its place") from None
        if header.name != f"{_FOLDER}/{name}" or header.type != tarfile.REGTYPE:
            raise ValueError(f"it holds {header.name!r}, which is not the regular file {_FOLDER}/{name}")
        at += _BLOCK
        if not 0 <= header.size <= min(most_bytes, len(tar) - at):
            raise ValueError(f"its {name!r} is cut off or larger than {format_bytes(most_bytes)}")
        found[name] = tar[at : at + header.size]
        at += -(-header.size // _BLOCK) * _BLOCK
    return found
