"""One target of the atlas: a source on one kernel and one filesystem, with a row for each of its statements."""

from dataclasses import dataclass, replace

from wblab.claims.sources.registry import WORKS
from wblab.claims.trial import NAME as TRIAL
from wblab.core.diskcheck import MIN_DISK
from wblab.core.spec import Disk, Filesystem, Spec
from wblab.core.stacks import images, top
from wblab.core.syscalls import MOUNT_FLAGS
from wblab.core.units import Bytes

FILESYSTEMS: tuple[Filesystem, ...] = ("ext4", "ext2", "xfs", "btrfs", "f2fs")
SOURCES = (*WORKS, TRIAL)
_FRUGAL: tuple[Filesystem, ...] = ("ext2", "ext4")


@dataclass(frozen=True)
class Target:
    """A source (a work, or the trial) on the kernel of one series and on one filesystem."""

    series: str
    filesystem: Filesystem
    source: str

    @property
    def name(self) -> str:
        """The name of its directory."""
        return f"{self.series}_{self.filesystem}_{self.source}"


@dataclass(frozen=True)
class AtlasRow:
    """The verdict on a claim, or on an expectation of a recommendation.

    name: of the claim, or the recommendation's number. about: source and settings of a recommendation. why: figures of
    the verdict, or its reason, in words. link: their place, relative to the target's directory; empty without runs.
    figure: what decides, with its interval; seeds: of how many seeds it is. Both are empty if there is none.
    """

    name: str
    about: str
    says: str
    verdict: str
    why: str
    link: str
    figure: str = ""
    seeds: str = ""


def on_filesystem(spec: Spec, filesystem: Filesystem, instead_of: Filesystem | None = None) -> Spec:
    """Return a spec with this filesystem on each disk that has one. Disks below it grow if they are too small.

    instead_of: change only disks with this filesystem. Options that every filesystem has, such as sync, are kept.
    """
    disks = {name: _on(disk, filesystem, instead_of) for name, disk in spec.disk.items()}
    for name in images(spec):
        if disks[above := top(spec, name)] != spec.disk[above]:
            disks[name] = replace(disks[name], size=max(disks[name].size, _least(filesystem)))
    return replace(spec, disk=disks)


def _least(filesystem: Filesystem) -> Bytes:
    """Return the size of a disk that has room for the loads' files besides the filesystem's own data.

    The presets' disks are sized for ext2 and ext4: on 130 MiB of btrfs or f2fs, 91 MiB of files do not fit.
    """
    return Bytes(MIN_DISK[filesystem if filesystem in _FRUGAL else "xfs"])


def _on(disk: Disk, filesystem: Filesystem, instead_of: Filesystem | None) -> Disk:
    if disk.filesystem in ("none", "swap", filesystem) or disk.filesystem != (instead_of or disk.filesystem):
        return disk
    common = tuple(option for option in disk.mount_options if option in MOUNT_FLAGS)
    return replace(disk, filesystem=filesystem, mkfs_options=(), mount_options=common)
