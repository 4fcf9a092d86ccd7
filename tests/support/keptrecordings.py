"""What a recorder keeps: a tar with the pages of a ring buffer, the formats of its events, and facts of its machine."""

import io
import tarfile
from collections.abc import Sequence
from pathlib import Path

from support.tracewriter import Ring, event_format

_FIELDS = {
    "dirty": "u32 pages 8 4 0",
    "sys_enter_write": "size_t count 8 8 0",
    "sys_enter_fsync": "unsigned int fd 8 8 0",
    **{f"block_rq_{step}": "dev_t dev 8 4 0" for step in ("insert", "issue", "complete")},
}
_FORMATS = {name: number for number, name in enumerate(_FIELDS, 301)}


def kept(path: Path, calls: Sequence[tuple[str, int, int]] = (), **changes: bytes | None) -> Path:
    """Write what a recorder keeps, in which task 42 made pages dirty.

    calls: further events: names, pids and values. changes: members of the tar; None: it lacks that.
    """
    ring = Ring()
    lines = "".join(
        f"/sys/kernel/tracing/instances/x/events/writeback/{name}/format:{line}\n"
        for name, number in _FORMATS.items()
        for line in event_format(name, number, _FIELDS[name]).splitlines()
    )
    more = [
        ring.data(1, ring.record(_FORMATS[name], pid, ring.word(value) + ring.word(0))) for name, pid, value in calls
    ]
    members: dict[str, bytes | None] = {
        "header_page": ring.header_page().encode(),
        "formats": lines.encode(),
        "cpu0.raw": ring.page(1000, [ring.data(0, ring.record(301, 42, ring.word(7))), *more]),
        "cmdlines": b"42 dd\n",
        "functions": b"",
        "recorder": b"stall 910 ms, task 42\nLinux far 5.10.0\n",
        "facts.txt": b"==> /sys/block/sdb/dev <==\n8:16\n==> /proc/uptime <==\n1.0 2.0\n",
    } | changes
    with tarfile.open(path, "w:gz") as archive:
        for name, content in members.items():
            if content is not None:
                info = tarfile.TarInfo(f"./{name}")
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content))
    return path
