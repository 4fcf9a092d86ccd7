"""flusher FILE SMALL LARGE: write SMALL MiB, wait until the kernel has written them to the disk, then LARGE MiB.

flusher.json keeps how long it took, from the end of write() on. Nobody calls fsync: it is the kernel's own writeback.
"""

import json
import sys
import time
from pathlib import Path

from wblab.core.layout import LEFT, SCRATCH
from wblab.lessons.programs.meminfo import kept_bytes

RESULT = "flusher.json"
_MIB = 1 << 20
_LONGEST_S = 120
_EACH_S = 0.05


def main(path: str, small: int, large: int) -> dict[str, float]:
    """Return for both after how long the kernel began to write them, and had done so, in s. Raises OSError."""
    found: dict[str, float] = {}
    for name, mib in (("small", small), ("large", large)):
        with open(f"{path}.{name}", "wb") as file:
            file.write(bytes(mib * _MIB))
        start_ns = time.monotonic_ns()
        found[f"{name}_begun_s"] = _until(mib * _MIB * 9 // 10, start_ns, "Dirty")
        found[f"{name}_done_s"] = _until(mib * _MIB // 10, start_ns, "Dirty", "Writeback")
        print(
            f"{mib:3} MiB written; the kernel began to write them to the disk after {found[f'{name}_begun_s']:.1f} s, "
            f"and had done so after {found[f'{name}_done_s']:.1f} s"
        )
    return found


def _until(most_bytes: int, start_ns: int, *names: str) -> float:
    """Wait until these entries of /proc/meminfo are no more than this, and return how long it took since, in s."""
    while time.monotonic_ns() - start_ns < _LONGEST_S * 10**9 and kept_bytes(*names) > most_bytes:
        time.sleep(_EACH_S)
    return (time.monotonic_ns() - start_ns) / 1e9


if __name__ == "__main__":
    Path(SCRATCH, LEFT, RESULT).write_text(json.dumps(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))))
