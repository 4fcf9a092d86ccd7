"""What the kernel says of the page cache, in /proc/meminfo."""

import re
from pathlib import Path

_KIB = 1024


def kept_bytes(*names: str) -> int:
    """Return the sum of entries of /proc/meminfo, such as Dirty and Writeback. Raises OSError."""
    found = re.findall(rf"^(?:{'|'.join(names)}): +(\d+) kB", Path("/proc/meminfo").read_text(), re.MULTILINE)
    return sum(int(kib) * _KIB for kib in found)
