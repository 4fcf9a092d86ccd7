"""Take a stock kernel into the cache: its image, and the modules that a run may need."""

import hashlib
import re
import shutil
import struct
import subprocess
import tarfile
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from wblab.core.errors import InputError, WblabError
from wblab.core.files import read_bytes
from wblab.kernels import apt, catalog
from wblab.kernels.stock import unpack
from wblab.kernels.stock.drivers import MODULES_OF, drivers_in
from wblab.kernels.stock.modules import Modules
from wblab.kernels.stock.stockkernel import CONFIG, IDENTITY, IMAGE, MODULES, NAMES, StockKernel, stock_kernels
from wblab.lab import cache
from wblab.lab.kernelname import ordinal
from wblab.lab.progress import Report

# The names in a stock kernel: those of its trace events among others, from its packed image and its modules.

_PAYLOAD_AT = 0x248  # of a bzImage: offset and length of the packed kernel (Documentation/arch/x86/boot.rst)
_SETUP_SECTORS_AT = 0x1F1
_MOST_NAMES_BYTES = 1 << 30
_NAME = re.compile(rb"(?<=\0)[a-z][a-z0-9_]{1,63}(?=\0)")


def names(image: bytes, modules: Iterable[bytes]) -> set[str]:
    """Return all texts in a kernel that may be names. Raises ValueError if its image cannot be unpacked."""
    found: set[bytes] = set()
    for part in (unpacked(image), *modules):
        found.update(_NAME.findall(part))
    return {name.decode() for name in found}


def unpacked(image: bytes) -> bytes:
    """Return the kernel in a bzImage. Raises ValueError."""
    if len(image) < _PAYLOAD_AT + 8:
        raise ValueError("it is cut off")
    start = (image[_SETUP_SECTORS_AT] + 1) * 512
    offset, length = struct.unpack_from("<II", image, _PAYLOAD_AT)
    return unpack.unpacked(image[start + offset : start + offset + length], _MOST_NAMES_BYTES)


# What the disks, filesystems and schedulers of a spec need, as far as a kernel has them as modules.
WANTED = (
    *("configfs", "null_blk", "mq_deadline", "kyber_iosched", "bfq"),
    *("ext4", "ext2", "xfs", "btrfs", "f2fs", "vfat", "exfat", "nls_iso8859_1", "nls_cp437", "nls_ascii"),
    *("loop", "dm_crypt", "crypto_null", "ecb", "xts", "aes", "fuse", "zram"),
    *dict.fromkeys(module for modules in MODULES_OF.values() for module in modules),
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
    there = Modules(modules or _INSTALLED / release)
    contents = _contents(there)
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
        "drivers": drivers_in(contents, there.built_in),
    }
    _keep(f"{release}-{digest[:16]}", files, identity)
    return next(kernel for kernel in stock_kernels() if kernel.build_id == digest)


def _keep(name: str, files: Mapping[str, bytes], identity: Mapping[str, Any]) -> None:
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


# Fetch Debian's kernel of a series through apt, without installing it.

# The kernel's file, its modules and its configuration; not those for clouds, with real-time patches, or unsigned ones.
_PACKAGE = r"linux-(?:base|image|binary|modules)-{series}[.+-][-+.0-9a-z]*-amd64"
_NOT = re.compile(r"-(?:cloud|rt|unsigned|dbg)")
_KEPT = re.compile(
    r"\./(?:boot/(?:vmlinuz|config)-|(?:usr/)?lib/modules/[^/]+/(?:vmlinuz|config|modules\.builtin$|kernel/(?:fs|block|"
    r"drivers/(?:ata|block|md|mmc|nvme|scsi|usb|virtio)|lib|crypto|security|arch)/.*\.ko))"
)


def fetch(series: str, report: Report) -> StockKernel:
    """Return Debian's newest kernel of a series, taken into the cache. Raises InputError, WblabError."""
    known = catalog.load().find(series)
    names, suite = _names(known.plain, known.suites, report)
    if not names:
        raise InputError(
            f"apt offers no kernel of {series} for amd64 here: take a file: wblab kernel build --stock /boot/vmlinuz"
        )
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        version = ""
        for name in names:
            found = apt.find(name, [suite], report)
            if isinstance(found, str):
                raise WblabError(f"cannot fetch {name}: {found}")
            version = found.version
            _unpack(apt.download(found, place, report), place / "root", report)
        image = _one(place, "vmlinuz*")
        modules = _one(place, "kernel").parent
        config = next((path for name in ("config-*", "config") for path in sorted((place / "root").rglob(name))), None)
        return take(image, modules, f"Debian linux {version}", config)


def _names(series: str, suites: tuple[str, ...], report: Report) -> tuple[list[str], str]:
    """Return the packages of the newest kernel, and the suite that has them."""
    for suite in suites:
        apt.find("linux-image-amd64", [suite], report)  # has apt read the lists of this suite
        found = [name for name in apt.names(_PACKAGE.format(series=re.escape(series))) if not _NOT.search(name)]
        releases: dict[str, list[str]] = {}
        for name in found:
            releases.setdefault(name.split("-", 2)[2], []).append(name)
        if releases:
            return sorted(releases[max(releases, key=ordinal)]), suite
    return [], ""


def _unpack(package: Path, folder: Path, report: Report) -> None:
    """Extract the kernel's files from a package. Raises WblabError."""
    report(None, f"unpacking {package.name}")
    folder.mkdir(exist_ok=True)
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", str(package)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        with suppress(tarfile.TarError), tarfile.open(fileobj=process.stdout, mode="r|") as archive:
            for member in archive:
                if _is_kept(member) and (source := archive.extractfile(member)):
                    target = folder / member.name
                    target.parent.mkdir(parents=True, exist_ok=True)
                    with target.open("wb") as file:
                        shutil.copyfileobj(source, file)
    if process.returncode:
        raise WblabError(f"cannot unpack {package.name}: is it whole?")
    package.unlink()


def _is_kept(member: tarfile.TarInfo) -> bool:
    return member.isfile() and ".." not in member.name.split("/") and _KEPT.match(member.name) is not None


def _one(folder: Path, pattern: str) -> Path:
    found = sorted((folder / "root").rglob(pattern))
    if not found:
        raise WblabError(f"the packages hold no {pattern}: take the kernel from a file instead")
    return found[0]
