"""cache FILE MIB: write a file, flush it, read it, drop it from memory, read it again. cache.json keeps the times."""

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

from wblab.core.layout import LEFT, SCRATCH
from wblab.lessons.programs.meminfo import kept_bytes

RESULT = "cache.json"
_BLOCK = 1 << 16


def main(path: str, mib: int) -> dict[str, float]:
    """Return how long each step took, in s, and what was dirty after a step, in bytes. Raises OSError."""
    blocks = mib * (1 << 20) // _BLOCK
    fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    found: dict[str, float] = {}

    def step(name: str, what: str, do: Callable[[], object]) -> None:
        start_ns = time.monotonic_ns()
        do()
        found[f"{name}_s"] = (time.monotonic_ns() - start_ns) / 1e9
        found[f"{name}_dirty_bytes"] = float(kept_bytes("Dirty"))
        print(f"{what:<44}{found[f'{name}_s']:10.3f} s{found[f'{name}_dirty_bytes'] / (1 << 20):10.1f} MiB dirty")

    def read() -> None:
        for place in range(blocks):
            os.pread(fd, _BLOCK, place * _BLOCK)

    step("write", f"1. write {mib} MiB", lambda: [os.write(fd, bytes(_BLOCK)) for _ in range(blocks)])
    step("fsync", "2. fsync: wait until it is on the disk", lambda: os.fsync(fd))
    step("again", "3. read it", read)
    step("drop", "4. drop it from memory (drop_caches)", lambda: Path("/proc/sys/vm/drop_caches").write_text("3"))
    step("read", "5. read it again", read)
    return found


if __name__ == "__main__":
    Path(SCRATCH, LEFT, RESULT).write_text(json.dumps(main(sys.argv[1], int(sys.argv[2]))))
