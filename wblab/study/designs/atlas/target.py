"""One target of the atlas: a source on one kernel and one filesystem, and what became of all that it says."""

import hashlib
from dataclasses import dataclass, replace

from wblab.core.check import MIN_DISK
from wblab.core.spec import Disk, Filesystem, Spec
from wblab.core.stacks import images, top
from wblab.core.syscalls import MOUNT_FLAGS
from wblab.core.units import Bytes
from wblab.lab.places import ROOT
from wblab.study.sources.registry import WORKS

FILESYSTEMS: tuple[Filesystem, ...] = ("ext4", "ext2", "xfs", "btrfs", "f2fs")
TRIAL = "trial"
SOURCES = (*WORKS, TRIAL)
_FRUGAL: tuple[Filesystem, ...] = ("ext2", "ext4")


@dataclass(frozen=True)
class Target:
    """Whose claims, or the recommendations of the trial, on which kernel's series and which filesystem."""

    series: str
    filesystem: Filesystem
    source: str

    @property
    def name(self) -> str:
        """What its directory is called."""
        return f"{self.series}_{self.filesystem}_{self.source}"


@dataclass(frozen=True)
class Row:
    """What became of a claim, or of an expectation of a recommendation.

    name: of the claim, or the recommendation's number. about: who recommends it, and what is set. why: the verdict's
    figures or reason, in words. link: where that stands, from the target's directory; empty where nothing was run.
    """

    name: str
    about: str
    says: str
    verdict: str
    why: str
    link: str


def on_filesystem(spec: Spec, filesystem: Filesystem, instead_of: Filesystem | None = None) -> Spec:
    """Return a spec with this filesystem on each disk that has one; what it lies on is made larger where it must be.

    instead_of: only on disks that have this one. Options of another filesystem go; those that every one has, such as
    sync, stay.
    """
    disks = {name: _on(disk, filesystem, instead_of) for name, disk in spec.disk.items()}
    for name in images(spec):
        if disks[above := top(spec, name)] != spec.disk[above]:
            disks[name] = replace(disks[name], size=max(disks[name].size, _least(filesystem)))
    return replace(spec, disk=disks)


def code_of(*rooms: str) -> str:
    """Return what the program in these rooms is, in short: what decides a verdict beside the runs."""
    paths = (path for room in rooms for path in sorted((ROOT / "wblab" / room).rglob("*.py")))
    return sha256(b"".join(path.read_bytes() for path in paths))


def sha256(content: bytes) -> str:
    """Return a digest in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def _least(filesystem: Filesystem) -> Bytes:
    """Return the size of a disk that has room for what loads write beside what a filesystem keeps for itself.

    The presets' disks are made for ext2 and ext4: on 130 MiB of btrfs or f2fs, 91 MiB of files do not fit.
    """
    return Bytes(MIN_DISK[filesystem if filesystem in _FRUGAL else "xfs"])


def _on(disk: Disk, filesystem: Filesystem, instead_of: Filesystem | None) -> Disk:
    if disk.filesystem in ("none", filesystem) or disk.filesystem != (instead_of or disk.filesystem):
        return disk
    common = tuple(option for option in disk.mount_options if option in MOUNT_FLAGS)
    return replace(disk, filesystem=filesystem, mkfs_options=(), mount_options=common)
