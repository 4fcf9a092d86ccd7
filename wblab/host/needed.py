"""What a spec's disks need of the kernel's configuration: without it the guest would fail after its boot."""

from collections.abc import Iterator, Mapping

from wblab.core.spec import Disk, Spec
from wblab.kernels import Kernel
from wblab.kernels.options import options_of

# Any one of the options will do.
_MODELS: Mapping[str, tuple[str, ...]] = {
    "linear": ("BLK_DEV_DM",),
    "delay": ("DM_DELAY",),
    "flakey": ("DM_FLAKEY",),
    "dust": ("DM_DUST",),
    "raid1": ("MD_RAID1",),
    "loop": ("BLK_DEV_LOOP",),
    "ram": ("BLK_DEV_RAM",),
}
_FILESYSTEMS: Mapping[str, tuple[str, ...]] = {
    "ext2": ("EXT4_USE_FOR_EXT2", "EXT2_FS"),
    "ext3": ("EXT4_FS",),
    "ext4": ("EXT4_FS",),
    "xfs": ("XFS_FS",),
    "btrfs": ("BTRFS_FS",),
    "f2fs": ("F2FS_FS",),
    "vfat": ("VFAT_FS",),
    "exfat": ("EXFAT_FS",),
}
_SCHEDULERS: Mapping[str, tuple[str, ...]] = {
    "mq-deadline": ("MQ_IOSCHED_DEADLINE",),
    "kyber": ("MQ_IOSCHED_KYBER",),
    "bfq": ("IOSCHED_BFQ",),
}


def lacking(spec: Spec, kernel: Kernel) -> dict[str, str]:
    """Return the options that a kernel lacks, by the key of the spec and its value; {} if its options are unknown."""
    there = options_of(kernel)
    if there is None:
        return {}
    needed = ((f"{spec.disk_key(name)}.{key}", any_of) for name, disk in spec.disk.items() for key, any_of in _of(disk))
    return {
        where: " or ".join(f"CONFIG_{option}" for option in any_of)
        for where, any_of in needed
        if not any(there.get(f"CONFIG_{option}") == "y" for option in any_of)
    }


def _of(disk: Disk) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield what a disk needs: the key and its value, and the options."""
    known = {"model": _MODELS, "filesystem": _FILESYSTEMS} | ({"scheduler": _SCHEDULERS} if disk.is_hardware else {})
    for key, options in known.items():
        if (value := getattr(disk, key)) in options:
            yield f"{key}={value}", options[value]
