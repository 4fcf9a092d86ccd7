"""Take a stock kernel into the cache: its image, and the modules that a run may need."""

import hashlib
import re
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from wblab.core.errors import InputError, WblabError
from wblab.core.files import read_bytes
from wblab.kernels import cache
from wblab.kernels.stock.kernel import CONFIG, IDENTITY, IMAGE, MODULES, NAMES, StockKernel, stock_kernels
from wblab.kernels.stock.modules import Modules
from wblab.kernels.stock.names import names

# What the disks, filesystems and schedulers of a spec need, as far as a kernel has them as modules.
WANTED = (
    *("configfs", "null_blk", "mq_deadline", "kyber_iosched", "bfq"),
    *("ext4", "ext2", "xfs", "btrfs", "f2fs", "vfat", "exfat", "nls_iso8859_1", "nls_cp437", "nls_ascii"),
)
_INSTALLED = Path("/lib/modules")
NEEDED = ("configfs", "null_blk", "ext4")
_MAGIC, _MAGIC_AT, _VERSION_AT = b"HdrS", 0x202, 0x20E  # Documentation/arch/x86/boot.rst
_MOST_BYTES, _MOST_CONFIG_BYTES = 256 << 20, 16 << 20


def read_image(path: Path) -> bytes:
    """Return the content of a kernel's file. Raises InputError for one that cannot be read, or is none."""
    try:
        data = read_bytes(path, _MOST_BYTES, follow=True)
        release_of(data)
    except OSError as error:
        reason = error.strerror
        raise InputError(f"cannot read {str(path)!r}: {reason}: give a series or a kernel's file") from None
    except ValueError as error:
        raise InputError(f"{path}: {error}: give a file such as /boot/vmlinuz") from None
    return data


def release_of(image: bytes) -> str:
    """Return the release of a kernel's image, a bzImage. Raises ValueError."""
    if image[_MAGIC_AT : _MAGIC_AT + 4] != _MAGIC:
        raise ValueError("it is no bzImage of a kernel for x86")
    at = int.from_bytes(image[_VERSION_AT : _VERSION_AT + 2], "little") + 0x200
    release = image[at : at + 256].partition(b"\0")[0].partition(b" ")[0].decode("ascii", "replace")
    if not re.fullmatch(r"\d+\.\d+[A-Za-z0-9._~+-]*", release):
        raise ValueError("its image names no release")
    return release


def take(image: Path, modules: Path | None, source: str, config: Path | None = None) -> StockKernel:
    """Return a stock kernel, copied into the cache. Raises InputError.

    modules: their directory; None: where an installed kernel of its release has them. source: in words.
    """
    data = read_image(image)
    release = release_of(data)
    contents = _contents(Modules(modules or _INSTALLED / release))
    try:
        known = names(data, contents.values())
        configured = read_bytes(config, _MOST_CONFIG_BYTES) if config else b""
    except OSError as error:
        raise InputError(f"cannot read {config}: {error.strerror}") from None
    except ValueError as error:
        raise InputError(f"{image}: {error}: give a file such as /boot/vmlinuz") from None
    digest = hashlib.sha256(data + b"".join(contents.values())).hexdigest()
    files = {f"{MODULES}/{name}.ko": content for name, content in contents.items()}
    files |= {NAMES: "\n".join(sorted(known)).encode(), IMAGE: data} | ({CONFIG: configured} if configured else {})
    identity = {
        "series": ".".join(re.findall(r"\d+", release)[:2]),
        "release": release,
        "config_sha256": hashlib.sha256(configured).hexdigest() if configured else "",
        "build_id": digest,
        "source": source,
        "compiler": "",
    }
    _keep(f"{release}-{digest[:16]}", files, identity)
    return next(kernel for kernel in stock_kernels() if kernel.build_id == digest)


def _keep(name: str, files: Mapping[str, bytes], identity: Mapping[str, str]) -> None:
    """Write a kernel to the cache, and replace it there in one step: runs may read it meanwhile. Raises WblabError."""
    place = cache.room("stock")
    try:
        with tempfile.TemporaryDirectory(dir=place, prefix=".") as outer:
            staged, old = Path(outer, "new"), Path(outer, "old")
            (staged / MODULES).mkdir(parents=True)
            for file, content in files.items():
                (staged / file).write_bytes(content)
            cache.write_json(staged / IDENTITY, identity)
            if (place / name).exists():
                (place / name).rename(old)
            staged.rename(place / name)
    except OSError as error:
        raise WblabError(f"cannot write to {place}: {error.strerror}: make room, or set XDG_CACHE_HOME") from None


def _contents(modules: Modules) -> dict[str, bytes]:
    if not modules.directory.is_dir():
        raise InputError(f"there is no directory {modules.directory}: give --modules DIR, such as /lib/modules/RELEASE")
    known: Sequence[str] = [name for name in WANTED if name in modules.files]
    if modules.built_in is not None:
        known = [*known, *(name for name in NEEDED if name not in known)]
    return modules.ordered(known)
