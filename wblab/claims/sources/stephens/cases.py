"""The runs for Stephens's claims: synchronous writes to three devices, and to devices of three latencies."""

from wblab.claims.sources.case import Case

_REAL = "clock.mode=real"
_NO_FILTERS, _NOT_BLAMED = "trace.filters={}", "trace.blame=never"
_LAYERS = ("ext4:*", "filemap:*", "block:*")
_ALL = ("trace.events=['all']", _NO_FILTERS, _NOT_BLAMED, _REAL)
_DIRECT = ("block:block_bio_queue", "block:block_bio_complete")
_SMALL = "trace.buffer=256KiB"
_SIZED = "trace.buffer=64MiB"  # holds the 0.8 million events that a pilot run with the small buffer recorded or lost


def _on_xfs(*disks: str) -> tuple[str, ...]:
    keys = ("size=300MiB", "filesystem=xfs", "mkfs_options=[]")
    return tuple(f"disk.{disk}.{key}" for disk in disks for key in keys)


def _one(block: str) -> str:
    write = f"w1={{kind='syncwrite', disk='ssd', file='w1', block='{block}', idle='5ms', count=60}}"
    return f"load={{{write}, end={{kind='command', disk='ssd', wait='2s', argv=['true']}}}}"


STEPHENS_CASES = {
    "sync-ext4": Case("sync-devices", "synchronous writes to a hard disk, an SSD and RAM, ext4"),
    "sync-xfs": Case("sync-devices", "the same on XFS", ("memory=700MiB", *_on_xfs("hdd", "ssd", "ram"))),
    "sync-real": Case("sync-devices", "the same on ext4 by the host's clock", (_REAL,), _DIRECT),
    "latency-ext4": Case("sync-latency", "synchronous writes to disks of three latencies, ext4"),
    "latency-xfs": Case("sync-latency", "the same on XFS", _on_xfs("a", "b", "c")),
    "layer-events": Case(
        "sync-devices",
        "the same, tracing filesystem, page cache and block layer for all tasks",
        (f"trace.events={list(_LAYERS)}", _NO_FILTERS, _NOT_BLAMED),
    ),
    "all-4k": Case(
        "sync-devices",
        "writes of 4 KiB to the SSD, tracing all events of the kernel, with a buffer of 256 KiB",
        (*_ALL, _SMALL, _one("4KiB")),
        loses=True,
    ),
    "all-1m": Case("sync-devices", "the same with writes of 1 MiB", (*_ALL, _SMALL, _one("1MiB")), loses=True),
    "all-1m-sized": Case(
        "sync-devices",
        "the same with a buffer of 64 MiB",
        (*_ALL, _SIZED, _one("1MiB")),
        loses=True,
    ),
    "block-1m": Case(
        "sync-devices",
        "the same, tracing the block layer alone, with a buffer of 256 KiB",
        (*_ALL, _SMALL, "trace.events=['block:*']", _one("1MiB")),
        loses=True,
    ),
}
