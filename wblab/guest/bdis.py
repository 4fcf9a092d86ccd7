"""The bdi that limits a disk's dirty pages: the device's, or the filesystem's own."""

from pathlib import Path


def own_bdi(device: Path) -> Path:
    """Return the bdi of the btrfs on a device; it exists while that is mounted."""
    links = Path("/sys/fs/btrfs").glob(f"*/devices/{device.name}")
    return next((link.parents[1] / "bdi" for link in links), Path("/sys/fs/btrfs/bdi"))
