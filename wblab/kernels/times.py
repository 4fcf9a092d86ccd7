"""File times that follow content, so that make compiles only what changed since the last build in the same place.

A tree is checked out, copied and patched anew for each build, so its files' own times say nothing. The record holds a
digest of each file of the last build, and the time at which the file got that content.
"""

import hashlib
import os
import time
from pathlib import Path

from wblab.kernels import cache


def settle(tree: Path, record: Path) -> None:
    """Give each file of a tree the time at which its content last changed, and rewrite the record.

    Call it before make: then an interrupted build leaves no object file that is newer than another content's time.
    """
    known = cache.read_json(record) or {}
    now_ns = time.time_ns()
    found: dict[str, tuple[str, int]] = {}
    for folder, folders, names in os.walk(tree):
        links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
        for name in (*names, *links):
            path = os.path.join(folder, name)
            below, digest = os.path.relpath(path, tree), _digest(path)
            before = known.get(below)
            time_ns = before[1] if before and before[0] == digest else now_ns
            os.utime(path, ns=(time_ns, time_ns), follow_symlinks=False)
            found[below] = (digest, time_ns)
    cache.write_json(record, found)


def _digest(path: str) -> str:
    if os.path.islink(path):
        return f"-> {os.readlink(path)}"
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()
