"""The runs for Chopper's claims: one small file, written in four chunks to an ext4 that is new, or to another disk."""

from wblab.study.sources.case import Case

_LINEAR = "disk.mount_options=['mb_optimize_scan=0']"  # search group by group from the goal on, as in Linux 3.12
_NEW = ("disk.size=16GiB", "disk.used=0", "disk.layout=6")
_FILE = ("load.l1.size=128KiB", "load.l1.fsync='0010'", "load.l1.sync='1001'")
_THEN = (*_NEW, *_FILE, _LINEAR)
_XFS = ("disk.filesystem=xfs", "disk.mkfs_options=[]")
_TWO_BLOCKS = ("load.l1.size=8KiB", "load.l1.order='01'", "load.l1.fsync='10'", "load.l1.sync='01'")


def _case(what: str, *settings: str) -> Case:
    return Case("chopper", what, settings)


CHOPPER_CASES = {
    "far": _case("128 KiB on a new ext4 of 16 GiB, closed and reopened after the first chunk", *_NEW, *_FILE),
    "far-then": _case("the same, with a search group by group", *_THEN),
    "far-xfs": _case("the same on XFS", *_NEW, *_FILE, *_XFS),
    "far-xfs-used": _case("the same on XFS, 40 % of it used by one file", *_NEW, *_FILE, *_XFS, "disk.used=40"),
    "far-64k": _case("group by group, 64 KiB", *_THEN, "load.l1.size=64KiB"),
    "far-4g": _case("group by group, on 4 GiB", *_THEN, "disk.size=4GiB"),
    "far-late": _case("group by group, synced at the end only", *_THEN, "load.l1.sync='0001'"),
    "far-fsync": _case(
        "group by group, the file's last chunk first, with an fsync after it", *_THEN,
        "load.l1.fsync='1000'", "load.l1.order='3012'",
    ),
    "far-backward": _case("group by group, from the last chunk to the first", *_THEN, "load.l1.order='3210'"),
    "far-used": _case("group by group, 40 % of the disk used by one file", *_THEN, "disk.used=40"),
    "far-cut": _case("group by group, on fragmented free space", *_THEN, "disk.layout=4"),
    "far-span": _case("group by group, in a directory far from the first", *_THEN, "load.l1.span=12"),
    "far-sparse": _case("group by group, only the last six tenths of each chunk", *_THEN, "load.l1.density=60"),
    "special-end": _case("two blocks, an fsync between them", *_NEW, *_TWO_BLOCKS),
}  # fmt: skip
