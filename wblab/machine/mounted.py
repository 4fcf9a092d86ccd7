"""Mount points of kernel filesystems, which differ between machines."""

import re
from pathlib import Path


def mounted(filesystem: str) -> list[Path]:
    """Return the mount points of a filesystem type, in the order of /proc/self/mounts; see proc_pid_mounts(5)."""
    lines = Path("/proc/self/mounts").read_text()
    return [Path(place) for place in re.findall(rf"^\S+ (\S+) {re.escape(filesystem)} ", lines, re.MULTILINE)]
