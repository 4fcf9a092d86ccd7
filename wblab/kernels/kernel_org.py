"""Tarballs of kernel.org: their URLs, and the newest release of a series from the list of digests."""

import re
from dataclasses import dataclass

from wblab.kernels import places
from wblab.lab.kernelname import ordinal


@dataclass(frozen=True)
class Tarball:
    """One release. Its digest comes over HTTPS from the tarball's folder; no signature is checked."""

    version: str
    sha256: str


def newest(series: str, listing: str) -> Tarball | None:
    """Return the newest release of `series` in a sha256sums.asc, or None."""
    found = re.findall(rf"^([0-9a-f]{{64}})  linux-({re.escape(series)}(?:\.\d+)?)\.tar\.xz$", listing, re.MULTILINE)
    if not found:
        return None
    sha256, version = max(found, key=lambda pair: ordinal(pair[1]))
    return Tarball(version, sha256)


def file_name(version: str) -> str:
    """Return the file name of a release's tarball."""
    return f"linux-{version}.tar.xz"


def url(version: str, folder: str) -> str:
    """Return the URL of a release's tarball. folder: a URL with {major}."""
    return f"{folder.format(major=version.partition('.')[0])}/{file_name(version)}"


def find(series: str, folder: str) -> Tarball | str:
    """Return the newest release of `series` in the folder (a URL with {major}), or why there is none."""
    folder = folder.format(major=series.partition(".")[0])
    try:
        listing = places.read(f"{folder}/sha256sums.asc").decode(errors="replace")
    except OSError as error:
        return f"{folder} cannot be read ({places.why(error)})"
    return newest(series, listing) or f"{folder} has no linux-{series}"
