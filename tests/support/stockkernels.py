"""Kernels of distributions, small enough to write here: a bzImage, and modules with what they say of themselves."""

import gzip
import lzma
from collections.abc import Callable, Mapping
from pathlib import Path

import zstandard

PACKS: Mapping[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "xz": lzma.compress,
    "zstd": zstandard.compress,
}
NAMES = b"\0balance_dirty_pages\0block_rq_complete\0Not A Name\0"
_SETUP_SECTORS, _VERSION_AT = 4, 0x300


def bzimage(
    release: str = "7.2.11-test", kernel: bytes = NAMES, pack: Callable[[bytes], bytes] = gzip.compress
) -> bytes:
    """Return a kernel's image as in Documentation/arch/x86/boot.rst, with as much of its head as the lab reads."""
    packed = pack(kernel) + len(kernel).to_bytes(4, "little")
    head = bytearray((_SETUP_SECTORS + 1) * 512)
    head[0x1F1] = _SETUP_SECTORS
    head[0x202:0x206] = b"HdrS"
    head[0x20E:0x210] = (_VERSION_AT - 0x200).to_bytes(2, "little")
    head[0x248:0x250] = (16).to_bytes(4, "little") + len(packed).to_bytes(4, "little")
    version = f"{release} (somebody@somewhere) #1 SMP\0".encode()
    head[_VERSION_AT : _VERSION_AT + len(version)] = version
    return bytes(head) + bytes(16) + packed


def module(**info: str) -> bytes:
    """Return a module with these lines in its section .modinfo."""
    lines = "".join(f"{key}={value}\0" for key, value in info.items())
    return b"\x7fELF\0license=GPL\0" + lines.encode() + b"name=x\0\0ext_event\0"


def modules(directory: Path, files: Mapping[str, bytes], builtin: str | None = "") -> Path:
    """Write modules by the names of their files below /lib/modules/RELEASE; return that directory."""
    for name, content in files.items():
        path = directory / "kernel" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    directory.mkdir(exist_ok=True)
    if builtin is not None:
        (directory / "modules.builtin").write_text("".join(f"kernel/{name}.ko\n" for name in builtin.split()))
    return directory
