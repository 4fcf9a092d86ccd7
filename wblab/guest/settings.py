"""Settings of the spec, written to files below /proc/sys and /sys."""

from collections.abc import Mapping
from pathlib import Path

from wblab.core.errors import WblabError
from wblab.core.spec import Attributes, Disk
from wblab.core.stacks import OF_SERVED
from wblab.guest.mounts import mounted_number

OWN_BDI = ("btrfs", OF_SERVED)  # filesystems that count their dirty pages at a bdi of their own, not at their disk's
GROUPS = ("queue", "bdi", "md")


_OF_MM = "mm."  # settings of memory that are no sysctls, by the same way: mm.lru_gen.enabled


def set_sysctls(sysctls: Mapping[str, int | str]) -> None:
    """Write each key to its file below /proc/sys (vm.dirty_bytes) or /sys/kernel (mm.*). Raises WblabError."""
    for key, value in sysctls.items():
        root = "/sys/kernel" if key.startswith(_OF_MM) else "/proc/sys"
        put(Path(root, *key.split(".")), value, f"sysctl {key}")


def set_attributes(
    device: Path, attributes: Attributes | Disk, key: str, filesystem: str, groups: tuple[str, ...] = GROUPS
) -> None:
    """Write a disk's attributes to files below /sys; `key` is their place in the spec. Raises WblabError.

    The bdi is the one at which the disk's filesystem counts its dirty pages.
    """
    for group in groups:
        of_group = attributes.queue_attributes if group == "queue" else getattr(attributes, group)
        for name, value in of_group.items():
            is_own = group == "bdi" and filesystem in OWN_BDI
            directory = own_bdi(device, filesystem) if is_own else Path("/sys/block", device.name, group)
            put(directory / name, value, f"{key}.{group}.{name}")


def own_bdi(device: Path, filesystem: str, sys: Path = Path("/sys")) -> Path:
    """Return the bdi of the mounted filesystem on a device; for a served one, `device` is its mount point."""
    if filesystem == OF_SERVED:
        return sys / "class" / "bdi" / mounted_number(device)
    mounted = (sys / "fs" / filesystem).glob(f"*/devices/{device.name}")
    return next((link.parents[1] / "bdi" for link in mounted), sys / "fs" / filesystem / "bdi")


def put(path: Path, value: int | str, what: str) -> None:
    """Write one setting. Raises WblabError, which names the setting by `what`."""
    try:
        path.write_text(str(value))
    except OSError as error:
        raise WblabError(f"cannot set {what} to {value!r} in the guest: {error.strerror}") from None
