"""A built kernel: the executable and its properties."""

import hashlib
import mmap
import re
import zlib
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, ClassVar

from wblab.core.errors import InputError
from wblab.kernels import facts
from wblab.lab import cache

MOST_CONFIG_BYTES = 1 << 20  # the lab's configuration has 34 KB


@dataclass(frozen=True)
class Kernel:
    """One `linux` executable. `build_id` identifies it and differs if any input differs.

    place: where it runs; a place has a module in `wblab.host.place`.
    """

    place: ClassVar[str] = "uml"

    path: Path
    config: Path | None  # its .config; None: the user's executable does not contain one
    series: str
    release: str  # as uname -r in the guest
    config_sha256: str  # "" without config
    patches: tuple[str, ...]  # names in order; empty for the user's executable
    build_id: str  # SHA-256 of source, patches, configuration and compiler; of the bytes, for the user's executable
    source: str
    compiler: str
    instead_of: str | None = None  # the default series or pinned source that was not available
    processors: int = 1  # on which it runs

    @property
    def virtual_time(self) -> bool | None:
        """Whether time can be virtual where it runs; None: its options say so."""
        return None

    def describe(self) -> dict[str, Any]:
        """Return what an experiment records: all fields except the paths."""
        return {key: value for key, value in asdict(self).items() if key not in ("path", "config")}

    def held(self, texts: Iterable[str]) -> set[str]:
        """Return the strings that the executable contains, such as names of parameters that only some kernels have.

        A search takes about 10 ms, so its result is cached.
        """
        about, wanted = f"strings {self.path.absolute()}", set(texts)
        known: dict[str, bool] = facts.recall(about) or {}
        if missing := wanted - known.keys():
            known = facts.keep(about, lambda: (known | self._look_for(missing), [self.path]))
        return {text for text in wanted if known[text]}

    def _look_for(self, texts: Iterable[str]) -> dict[str, bool]:
        with self.path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as image:
            return {text: image.find(text.encode()) >= 0 for text in texts}


@dataclass(frozen=True)
class Image:
    """What can be read from the bytes of a kernel."""

    release: str
    compiler: str
    config: bytes | None  # None: not contained

    @property
    def series(self) -> str:
        """The first two numbers of its release, such as 7.3."""
        return ".".join(re.findall(r"\d+", self.release)[:2])


def load(folder: Path) -> Kernel | None:
    """Return the kernel that the lab has built in `folder` of the cache, or None.

    An executable with another digest than its record does not count. The digest is computed once, and again if the file
    changes. Raises WblabError if other users may write to the cache.
    """
    cache.check_own()
    identity = cache.read_json(folder / "identity.json")
    known = {field.name for field in fields(Kernel)}
    digest = ""
    with suppress(OSError):
        digest = facts.sha256(folder / "linux")
    if not identity or not digest or digest != identity.get("linux_sha256"):
        return None
    values = {key: value for key, value in identity.items() if key in known}
    values["patches"] = tuple(patch["name"] for patch in identity["patches"])
    return Kernel(path=folder / "linux", config=folder / "config", **values)


def inspect(path: Path) -> Kernel:
    """Return the kernel in an executable of the user. Raises InputError if it is not a UML kernel."""
    path = path.resolve()
    if path.name == "linux" and path.parent.parent == cache.home() / "builds" and (loaded := load(path.parent)):
        return loaded
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from None
    image = read_image(content)
    if image is None:
        raise InputError(f"{path} is not a User Mode Linux executable: build one with ARCH=um, or name a kernel tree")
    digest = hashlib.sha256(content).hexdigest()
    config_path = None
    if image.config is not None:
        config_path = cache.room("executables") / f"{digest[:16]}.config"
        if not config_path.exists():
            config_path.write_bytes(image.config)
    return Kernel(
        path=path,
        config=config_path,
        series=image.series,
        release=image.release,
        config_sha256=hashlib.sha256(image.config).hexdigest() if image.config is not None else "",
        patches=(),
        build_id=digest,
        source=f"executable {path}",
        compiler=image.compiler,
    )


def read_image(content: bytes) -> Image | None:
    """Return what the bytes of an executable say, or None if they are not User Mode Linux."""
    banner = re.search(rb"Linux version (\d+\.\d+\S*) \([^)]*\) \(([^,\n]*)", content)
    if not content.startswith(b"\x7fELF") or not banner or b"umid=" not in content:
        return None
    return Image(banner[1].decode(errors="replace"), banner[2].decode(errors="replace"), _embedded_config(content))


def sha256(path: Path) -> str:
    """Return the digest of a file, or "" if it cannot be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""


def is_executable(path: Path) -> bool:
    """Whether `path` is an ELF file; `inspect` checks whether it is a kernel."""
    try:
        with path.open("rb") as file:
            return file.read(4) == b"\x7fELF"
    except OSError:
        return False


def _embedded_config(image: bytes) -> bytes | None:
    """Return the configuration that CONFIG_IKCONFIG puts into the kernel, as gzip data between two marks."""
    start, end = image.find(b"IKCFG_ST"), image.find(b"IKCFG_ED")
    if start < 0 or end < start:
        return None
    unpacking = zlib.decompressobj(zlib.MAX_WBITS | 16)  # gzip
    try:
        config = unpacking.decompress(image[start + 8 : end], MOST_CONFIG_BYTES)
    except zlib.error:
        return None
    return config if unpacking.eof else None
