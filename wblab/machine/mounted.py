"""Where filesystems of the kernel's own are mounted, which differs from machine to machine."""

import re
from pathlib import Path


def mounted(filesystem: str) -> list[Path]:
    """Return where filesystems of a type are mounted, in the order of /proc/self/mounts; see proc_pid_mounts(5)."""
    lines = Path("/proc/self/mounts").read_text()
    return [Path(place) for place in re.findall(rf"^\S+ (\S+) {re.escape(filesystem)} ", lines, re.MULTILINE)]
