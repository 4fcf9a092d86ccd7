"""Take a stock kernel into the cache: its image, and the modules that a run may need."""

import hashlib
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from wblab.core.errors import InputError
from wblab.kernels import cache
from wblab.kernels.stock.kernel import CONFIG, IDENTITY, IMAGE, MODULES, NAMES, StockKernel, stock_kernels
from wblab.kernels.stock.modules import Modules
from wblab.kernels.stock.names import names

# What the disks, filesystems and schedulers of a spec need, as far as a kernel has them as modules.
WANTED = (
    *("configfs", "null_blk", "mq_deadline", "kyber_iosched", "bfq"),
    *("ext4", "ext2", "xfs", "btrfs", "f2fs", "vfat", "exfat", "nls_iso8859_1", "nls_cp437", "nls_ascii"),
)
NEEDED = ("configfs", "null_blk", "ext4")
_MAGIC, _MAGIC_AT, _VERSION_AT = b"HdrS", 0x202, 0x20E  # Documentation/arch/x86/boot.rst
_MOST_BYTES = 64 << 20


def release_of(image: bytes) -> str:
    """Return the release of a kernel's image, a bzImage. Raises ValueError."""
    if image[_MAGIC_AT : _MAGIC_AT + 4] != _MAGIC:
        raise ValueError("it is no bzImage of a kernel for x86")
    at = int.from_bytes(image[_VERSION_AT : _VERSION_AT + 2], "little") + 0x200
    release = image[at : at + 256].partition(b"\0")[0].partition(b" ")[0].decode("ascii", "replace")
    if not re.fullmatch(r"\d+\.\d+[A-Za-z0-9._~+-]*", release):
        raise ValueError("its image names no release")
    return release


def take(image: Path, modules: Path, source: str, config: Path | None = None) -> StockKernel:
    """Return a stock kernel, copied into the cache. modules: its directory. source: in words. Raises InputError."""
    try:
        data = image.read_bytes()
        if len(data) > _MOST_BYTES:
            raise ValueError("it is too large")
        release = release_of(data)
        contents = _contents(Modules(modules))
        known = names(data, contents.values())
    except OSError as error:
        raise InputError(f"cannot read {image}: {error.strerror}") from None
    except ValueError as error:
        raise InputError(f"{image}: {error}: name a file such as /boot/vmlinuz") from None
    digest = hashlib.sha256(data + b"".join(contents.values())).hexdigest()
    folder = cache.room("stock", f"{release}-{digest[:16]}")
    shutil.rmtree(folder / MODULES, ignore_errors=True)
    (folder / MODULES).mkdir()
    for name, content in contents.items():
        (folder / MODULES / f"{name}.ko").write_bytes(content)
    (folder / NAMES).write_text("\n".join(sorted(known)))
    (folder / IMAGE).write_bytes(data)
    if config and config.is_file():
        shutil.copyfile(config, folder / CONFIG)
    identity = {
        "series": ".".join(release.split("-")[0].split(".")[:2]),
        "release": release,
        "config_sha256": hashlib.sha256(config.read_bytes()).hexdigest() if config and config.is_file() else "",
        "build_id": digest,
        "source": source,
        "compiler": "",
    }
    cache.write_json(folder / IDENTITY, identity)
    for other in folder.parent.glob(f"{release}-*"):  # an earlier one of the same release
        if other != folder:
            shutil.rmtree(other, ignore_errors=True)
    return next(kernel for kernel in stock_kernels() if kernel.build_id == digest)


def _contents(modules: Modules) -> dict[str, bytes]:
    if not modules.directory.is_dir():
        raise InputError(f"there is no directory {modules.directory}: give --modules DIR, such as /lib/modules/RELEASE")
    known: Sequence[str] = [name for name in WANTED if name in modules.files]
    if modules.built_in is not None:
        known = [*known, *(name for name in NEEDED if name not in known)]
    return modules.ordered(known)
