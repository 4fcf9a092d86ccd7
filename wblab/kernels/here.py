"""The kernel of this machine itself, by its name: live:DIR, or live:slow=DIR,fast=DIR with a directory for each disk.

live+limits:DIR is the same with the spec's dirty limits, which root sets on the machine for each run.
"""

import hashlib
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from wblab.core.diskcheck import DISK_NAME
from wblab.core.errors import InputError
from wblab.kernels.kernel import Kernel

PLAIN, WITH_LIMITS = "live:", "live+limits:"
_NEXT = re.compile(rf",(?={DISK_NAME.pattern}=)")  # a directory's name may have commas
_NAMED = re.compile(rf"({DISK_NAME.pattern})=(.*)", re.DOTALL)
_MACHINE = Path("/etc/machine-id")


@dataclass(frozen=True)
class HereKernel(Kernel):
    """This machine's kernel, as it runs. directories: by disk; the disk "" is the only one of a spec.

    limits: whether the spec's dirty limits are set for each run.
    """

    place: ClassVar[str] = "machine"

    directories: tuple[tuple[str, Path], ...] = ()
    limits: bool = False

    @property
    def virtual_time(self) -> bool:
        """Whether its time can be virtual: it is this machine's."""
        return False

    def describe(self) -> dict[str, Any]:
        """Return what an experiment records."""
        return {key: value for key, value in super().describe().items() if key not in ("directories", "limits")}

    def held(self, texts: Iterable[str]) -> set[str]:
        """Return nothing: it is not looked into."""
        return set()

    def directory(self, disk: str) -> Path | None:
        """Return the directory for a disk of a spec."""
        known = dict(self.directories)
        return known.get(disk, known.get(""))


def is_here(name: str) -> bool:
    """Whether a kernel's name is that of this machine."""
    return name.startswith((PLAIN, WITH_LIMITS))


def full_name(name: str) -> str:
    """Return a name in its one spelling, which holds in every directory. Raises InputError."""
    directories, limits = _parse(name)
    shown = ",".join(f"{disk}={path}" if disk else str(path) for disk, path in directories)
    return (WITH_LIMITS if limits else PLAIN) + shown


def find(name: str) -> HereKernel:
    """Return this machine as a name means it. Raises InputError."""
    directories, limits = _parse(name)
    about = os.uname()
    try:
        machine = _MACHINE.read_text()
    except OSError:  # a container may have none
        machine = about.nodename
    return HereKernel(
        path=Path("/"),
        config=None,
        series=".".join(re.findall(r"\d+", about.release)[:2]),
        release=about.release,
        config_sha256="",
        patches=(),
        build_id=hashlib.sha256(f"{machine} {about.release} {about.version}".encode()).hexdigest(),
        source="this machine",
        compiler="",
        processors=len(os.sched_getaffinity(0)),
        directories=directories,
        limits=limits,
    )


def _parse(name: str) -> tuple[tuple[tuple[str, Path], ...], bool]:
    limits = name.startswith(WITH_LIMITS)
    text = name.removeprefix(WITH_LIMITS if limits else PLAIN)
    found = []
    for part in _NEXT.split(text):
        named = _NAMED.fullmatch(part)
        disk, path = (named[1], named[2]) if named else ("", part)
        if not path or "\0" in path:
            raise InputError(f"{name!r}: name a directory, such as {PLAIN}/srv, or {PLAIN}slow=/srv,fast=/home")
        found.append((disk, Path(os.path.abspath(os.path.expanduser(path)))))
    disks = [disk for disk, _ in found]
    if len(set(disks)) < len(disks) or ("" in disks and len(disks) > 1):
        raise InputError(f"{name!r}: give each disk one directory, such as {PLAIN}slow=/srv,fast=/home")
    return tuple(found), limits
