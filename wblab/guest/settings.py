"""Settings of the spec, written to files below /proc/sys and /sys."""

from collections.abc import Mapping
from pathlib import Path

from wblab.core.errors import WblabError
from wblab.core.spec import Attributes, Disk


def set_sysctls(sysctls: Mapping[str, int | str]) -> None:
    """Write each key (vm.dirty_bytes) to its file below /proc/sys. Raises WblabError."""
    for key, value in sysctls.items():
        put(Path("/proc/sys", *key.split(".")), value, f"sysctl {key}")


def set_attributes(device: Path, attributes: Attributes | Disk, key: str) -> None:
    """Write a disk's attributes to files below /sys/block; `key` is their place in the spec. Raises WblabError."""
    for group in ("queue", "bdi", "md"):
        for name, value in getattr(attributes, group).items():
            put(Path("/sys/block", device.name, group, name), value, f"{key}.{group}.{name}")


def put(path: Path, value: int | str, what: str) -> None:
    """Write one setting. Raises WblabError, which names the setting by `what`."""
    try:
        path.write_text(str(value))
    except OSError as error:
        raise WblabError(f"cannot set {what} to {value!r} in the guest: {error.strerror}") from None
