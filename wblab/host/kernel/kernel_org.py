"""Tarballs of kernel.org: the newest point release of a series, checked against the digests listed beside it."""

import hashlib
import re
import urllib.request
from dataclasses import dataclass
from pathlib import Path

from wblab.core.errors import WblabError
from wblab.host.kernel.catalog import ordinal
from wblab.host.progress import Report

_TIMEOUT_S = 10  # for each answer, not for the whole transfer
_CHUNK_BYTES = 1 << 20


@dataclass(frozen=True)
class Tarball:
    """One release. The digest was read over HTTPS from the folder of the tarball; no signature is checked."""

    version: str
    url: str
    sha256: str


def newest(series: str, listing: str, folder: str) -> Tarball | None:
    """Return the newest release of `series` in a sha256sums.asc, or None."""
    found = re.findall(rf"^([0-9a-f]{{64}})  linux-({re.escape(series)}(?:\.\d+)?)\.tar\.xz$", listing, re.MULTILINE)
    if not found:
        return None
    sha256, version = max(found, key=lambda pair: ordinal(pair[1]))
    return Tarball(version, f"{folder}/linux-{version}.tar.xz", sha256)


def find(series: str, folder: str) -> Tarball | str:
    """Return the newest release of `series` in the folder (a URL with {major}), or why there is none."""
    folder = folder.format(major=series.partition(".")[0])
    try:
        with urllib.request.urlopen(f"{folder}/sha256sums.asc", timeout=_TIMEOUT_S) as answer:
            listing = answer.read().decode(errors="replace")
    except OSError as error:  # URLError and timeouts are OSErrors
        return f"{folder} cannot be read ({getattr(error, 'reason', error)})"
    return newest(series, listing, folder) or f"{folder} has no linux-{series}"


def download(tarball: Tarball, folder: Path, report: Report) -> Path:
    """Fetch a tarball into `folder`. Raises WblabError when it does not arrive whole."""
    name = tarball.url.rpartition("/")[2]
    staged = folder / f".{name}"
    digest = hashlib.sha256()
    try:
        with urllib.request.urlopen(tarball.url, timeout=_TIMEOUT_S) as answer, staged.open("wb") as file:
            total_bytes = int(answer.headers.get("Content-Length") or 0)
            while chunk := answer.read(_CHUNK_BYTES):
                file.write(chunk)
                digest.update(chunk)
                report(file.tell() / total_bytes if total_bytes else None, f"fetching {name}")
    except OSError as error:
        staged.unlink(missing_ok=True)
        raise WblabError(f"cannot fetch {tarball.url}: {error}") from None
    if digest.hexdigest() != tarball.sha256:
        staged.unlink()
        raise WblabError(f"{tarball.url} is not what sha256sums.asc beside it says: try again later")
    return staged.rename(folder / name)
