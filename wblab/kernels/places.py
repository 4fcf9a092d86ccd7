"""Places of source archives: Debian's packages, Debian's archive of old packages, and kernel.org.

Each place returns the file of a pin, or the reason why it has none. The digest is always checked.
"""

import hashlib
import json
import os
import re
import shutil
import urllib.parse
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wblab.core.errors import WblabError
from wblab.kernels.catalog import Catalog, Series
from wblab.kernels.pins import Pin
from wblab.kernels.source import KernelSource
from wblab.lab import cache
from wblab.lab.kernelname import ordinal
from wblab.lab.progress import Report

# Debian's archive of all its packages, snapshot.debian.org.
#
# It names files by SHA-1, and lists the SHA-1 for each version of a binary package. The lab then checks the SHA-256 of
# the pin. Interface: https://salsa.debian.org/snapshot-team/snapshot/raw/master/API


def snapshot_url(package: str, version: str, site: str) -> str:
    """Return the URL of a package for all architectures. Raises LookupError with the reason if there is none."""
    place = f"{site}/mr/binary/{package}/{urllib.parse.quote(version)}/binfiles"
    try:
        result = json.loads(read(place))["result"]
        name = next(str(entry["hash"]) for entry in result if entry["architecture"] == "all")
    except OSError as error:
        raise LookupError(f"{site} cannot be read ({why(error)})") from None
    except (ValueError, LookupError, TypeError, StopIteration):
        raise LookupError(f"{site} has no {package} {version}") from None
    return f"{site}/file/{urllib.parse.quote(name, safe='')}"


def source_of(pin: Pin, series: Series) -> KernelSource:
    """Return the source of a pin, fetched or not."""
    if pin.origin == "debian":
        description = f"Debian {series.package} {pin.version}"
        name = f"{series.package}_{pin.version.partition(':')[2] or pin.version}_all.deb"
    else:
        description = f"kernel.org linux-{pin.version}"
        name = _tarball(pin.version)
    return KernelSource(description, pin.identity, str(cache.home() / "archives" / name))


def fetch(pin: Pin, series: Series, known: Catalog, report: Report) -> list[str]:
    """Fetch a pin's archive if necessary. Return why no place has it; empty if it is here now."""
    source = source_of(pin, series)
    if source.is_here:
        return []
    if pin.origin == "debian" and not _unpacks_packages():
        return ["no dpkg-deb here"]
    sources = [_apt, _snapshot] if pin.origin == "debian" else [_kernel_org]
    archives = cache.room("archives")
    reasons: list[str] = []
    with cache.locked(archives / "lock", lambda: report(None, "waiting for another download")):
        for place in sources:
            if source.is_here:
                break
            try:
                place(pin, series, known, Path(source.path), report)
            except (LookupError, WblabError) as error:
                reasons.append(str(error))
    return [] if source.is_here else reasons


def newest(series: Series, known: Catalog, report: Report) -> Pin | list[str]:
    """Return a pin of the newest available source, or the reasons why there is none."""
    from wblab.kernels import apt  # imported here because it takes time to load

    package = apt.find(series.package, series.suites, report) if _unpacks_packages() else "no dpkg-deb here"
    if not isinstance(package, str):
        return Pin("debian", package.version, package.sha256)
    report(None, f"looking for linux-{series.plain} on kernel.org")
    tarball = find_tarball(series.plain, known.kernel_org)
    return [package, tarball] if isinstance(tarball, str) else Pin("kernel_org", tarball.version, tarball.sha256)


def _apt(pin: Pin, series: Series, known: Catalog, path: Path, report: Report) -> None:
    from wblab.kernels import apt

    package = apt.find(series.package, series.suites, report, pin.version)
    if isinstance(package, str):
        raise LookupError(package)
    if package.sha256 != pin.sha256:
        raise LookupError(f"{package.name} {package.version} from apt has another digest")
    apt.download(package, path.parent, report)


def _snapshot(pin: Pin, series: Series, known: Catalog, path: Path, report: Report) -> None:
    report(None, f"looking for {series.package} in {known.snapshot}")
    download(snapshot_url(series.package, pin.version, known.snapshot), pin.sha256, path, report)


def _kernel_org(pin: Pin, series: Series, known: Catalog, path: Path, report: Report) -> None:
    download(tarball_url(pin.version, known.kernel_org), pin.sha256, path, report)


def _unpacks_packages() -> bool:
    return shutil.which("dpkg-deb") is not None


# Tarballs of kernel.org: their URLs, and the newest release of a series from the list of digests.


@dataclass(frozen=True)
class Tarball:
    """One release. Its digest comes over HTTPS from the tarball's folder; no signature is checked."""

    version: str
    sha256: str


def newest_tarball(series: str, listing: str) -> Tarball | None:
    """Return the newest release of `series` in a sha256sums.asc, or None."""
    found = re.findall(rf"^([0-9a-f]{{64}})  linux-({re.escape(series)}(?:\.\d+)?)\.tar\.xz$", listing, re.MULTILINE)
    if not found:
        return None
    sha256, version = max(found, key=lambda pair: ordinal(pair[1]))
    return Tarball(version, sha256)


def _tarball(version: str) -> str:
    """Return the file name of a release's tarball."""
    return f"linux-{version}.tar.xz"


def tarball_url(version: str, folder: str) -> str:
    """Return the URL of a release's tarball. folder: a URL with {major}."""
    return f"{folder.format(major=version.partition('.')[0])}/{_tarball(version)}"


def find_tarball(series: str, folder: str) -> Tarball | str:
    """Return the newest release of `series` in the folder (a URL with {major}), or why there is none."""
    folder = folder.format(major=series.partition(".")[0])
    try:
        listing = read(f"{folder}/sha256sums.asc").decode(errors="replace")
    except OSError as error:
        return f"{folder} cannot be read ({why(error)})"
    return newest_tarball(series, listing) or f"{folder} has no linux-{series}"


# Downloads, kept only if their digest is the expected one.

TIMEOUT_S = 10  # for each answer, not for the whole transfer
_CHUNK_BYTES = 1 << 20


def read(url: str) -> bytes:
    """Return the content of a URL, at most 16 MiB. Raises OSError."""
    with _opened(url) as answer:
        content: bytes = answer.read(16 << 20)
    return content


def _opened(url: str) -> Any:
    from urllib.request import urlopen  # it imports http, ssl and email: not for each command

    return urlopen(url, timeout=TIMEOUT_S)


def why(error: OSError) -> str:
    """Return the reason why a URL cannot be read."""
    return str(getattr(error, "reason", error))


def download(url: str, sha256: str, path: Path, report: Report) -> Path:
    """Fetch a file to `path` in the cache. Raises WblabError if it is incomplete or has another digest."""
    report(None, f"fetching {path.name}")
    staged = path.with_name(f".{path.name}")
    staged.unlink(missing_ok=True)
    digest = hashlib.sha256()
    try:
        descriptor = os.open(staged, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
        with _opened(url) as answer, open(descriptor, "wb") as file:
            total_bytes = int(answer.headers.get("Content-Length") or 0)
            while chunk := answer.read(_CHUNK_BYTES):
                file.write(chunk)
                digest.update(chunk)
                report(file.tell() / total_bytes if total_bytes else None, f"fetching {path.name}")
    except OSError as error:  # URLError and timeouts are OSErrors
        staged.unlink(missing_ok=True)
        raise WblabError(f"cannot fetch {url}: {why(error)}") from None
    if digest.hexdigest() != sha256:
        staged.unlink()
        raise WblabError(f"{url} has the wrong digest: {digest.hexdigest()[:16]}… instead of {sha256[:16]}…")
    return staged.rename(path)
