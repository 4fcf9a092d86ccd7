"""Fetch Debian's kernel of a series through apt, without installing it."""

import re
import shutil
import subprocess
import tarfile
import tempfile
from contextlib import suppress
from pathlib import Path

from wblab.core.errors import InputError, WblabError
from wblab.kernels import apt, catalog
from wblab.kernels.stock.kernel import StockKernel
from wblab.kernels.stock.take import take
from wblab.kernels.versions import ordinal
from wblab.lab.progress import Report

# The kernel's file, its modules and its configuration; not those for clouds, with real-time patches, or unsigned ones.
_PACKAGE = r"linux-(?:base|image|binary|modules)-{series}[.+-][-+.0-9a-z]*-amd64"
_NOT = re.compile(r"-(?:cloud|rt|unsigned|dbg)")
_KEPT = re.compile(
    r"\./(?:boot/(?:vmlinuz|config)-|(?:usr/)?lib/modules/[^/]+/(?:vmlinuz|config|modules\.builtin$|kernel/(?:fs|block|"
    r"drivers/block|lib|crypto|arch)/.*\.ko))"
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
