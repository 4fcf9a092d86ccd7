"""Tarballs of kernel.org: where one is, and the newest point release of a series by the digests listed beside it."""

import re
from dataclasses import dataclass

from wblab.kernels import download
from wblab.kernels.catalog import ordinal


@dataclass(frozen=True)
class Tarball:
    """One release. The digest was read over HTTPS from the folder of the tarball; no signature is checked."""

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
    """Return what the tarball of a release is called."""
    return f"linux-{version}.tar.xz"


def url(version: str, folder: str) -> str:
    """Return where the tarball of a release is; `folder`: a URL with {major}."""
    return f"{folder.format(major=version.partition('.')[0])}/{file_name(version)}"


def find(series: str, folder: str) -> Tarball | str:
    """Return the newest release of `series` in the folder (a URL with {major}), or why there is none."""
    folder = folder.format(major=series.partition(".")[0])
    try:
        listing = download.read(f"{folder}/sha256sums.asc").decode(errors="replace")
    except OSError as error:
        return f"{folder} cannot be read ({download.why(error)})"
    return newest(series, listing) or f"{folder} has no linux-{series}"
