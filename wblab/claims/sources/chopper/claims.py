"""Claims of He and others (Chopper) on where a filesystem puts a small file, and what spreads it over the disk.

Their claims are about shares of 16,384 runs on Linux 3.12. Here each is tested on one file whose blocks lay gigabytes
apart then, or on a file that differs from it in one factor. 'wblab study chopper-ext4' and 'chopper-xfs' give shares.
The seed sets the filesystem's hash, which places directories.
"""

from wblab.analysis.runs.fileextents import layout_metrics
from wblab.analysis.statistics.decision import over, under
from wblab.claims.sources.case import Case
from wblab.claims.sources.claim import Claim, Measure, untested
from wblab.claims.sources.figures import on_case
from wblab.claims.sources.sample import Sample

# The runs for Chopper's claims: one small file, written in four chunks to an ext4 that is new, or to another disk.

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


_MIB = 1 << 20
_FAR_MIB = 1024
_SPREAD, _RULES, _LATENCY = "how far files are spread", "issues of ext4", "latency"


def layout(sample: Sample, name: str) -> float:
    """Return a metric of the layout of the run's file."""
    return layout_metrics(sample.run.files["l1"])[name]


def dspan_mib(sample: Sample) -> float:
    """Return the distance from the file's first block to its last, in MiB."""
    return layout(sample, "dspan_bytes") / _MIB


_WHAT = "distance from the file's first block to its last"
_FAR = Measure(_WHAT, "MiB", dspan_mib, over(_FAR_MIB), "more than 1 GiB", each=True)
_NEAR = Measure(_WHAT, "MiB", dspan_mib, under(_FAR_MIB), "less than 1 GiB", each=True)


def chopper_claims() -> tuple[Claim, ...]:
    """Return all claims, by their numbers."""
    return (*_spread(), *_factors(), *_rules(), *_latency())


def _lies(measure: Measure, name: str, says: str, case: str) -> Claim:
    return on_case(name, says, _SPREAD, case, measure)


def _spread() -> list[Claim]:
    then = "ext4 puts them gigabytes apart if it searches group by group, as in Linux 3.12"
    return [
        _lies(_FAR, "H1-far", "ext4 puts the blocks of one small file gigabytes apart", "far"),
        _lies(_FAR, "H2-far-then", then, "far-then"),
        _lies(_NEAR, "H3-xfs", "XFS hardly ever spreads a small file", "far-xfs"),
        _lies(_NEAR, "H4-xfs-used", "XFS hardly ever spreads a small file on a used disk either", "far-xfs-used"),
    ]


def _factors() -> list[Claim]:
    """Return claims on single factors: with another level of one, the file is spread less, or as much."""
    return [
        _lies(_NEAR, "H5-disk", "ext4 does not spread a file on a small disk", "far-4g"),
        _lies(_NEAR, "H6-size", "ext4 does not spread a file of 64 KiB or less", "far-64k"),
        _lies(_NEAR, "H7-sync", "ext4 does not spread a file that stays open after its first chunk", "far-late"),
        _lies(
            _NEAR, "H8-fsync", "ext4 does not spread a file if its last chunk is written and fsynced first", "far-fsync"
        ),
        _lies(
            _NEAR, "H9-order", "ext4 does not spread a file written from its last chunk to its first", "far-backward"
        ),
        _lies(_FAR, "H10-used", "ext4 spreads a file however much of the disk is used", "far-used"),
        _lies(_FAR, "H11-layout", "ext4 spreads a file however the free space is fragmented", "far-cut"),
        _lies(_FAR, "H12-span", "ext4 spreads a file in whatever directory", "far-span"),
        _lies(_FAR, "H13-density", "ext4 spreads a file however much of each chunk is written", "far-sparse"),
    ]


def _rules() -> list[Claim]:
    def pieces(sample: Sample) -> float:
        return layout(sample, "extents")

    apart = Measure(
        "pieces of a file of two blocks", "pieces", pieces, over(1.5), "two",
        "Today the rule is for files over 64 KiB; --kernel 7.2+old-ext4-allocation has the old rule",
    )  # fmt: skip
    return [
        on_case(
            "H14-special-end", "the blocks of a closed file's last write lie apart from the rest", _RULES,
            "special-end", apart,
        ),
        Claim(
            "H15-scheduler", "a small file's place depends on the processor that writes it out", _RULES, (),
            untested("needs several processors; a guest in virtual time has one"),
        ),
        Claim(
            "H16-normalisation", "an enlarged request misses the gap that it was made for", _RULES, (),
            untested(
                "its effect on one file depends on everything allocated before. 'wblab study chopper-ext4' with "
                "kernel = \"7.2+old-ext4-allocation\" shows it over many files"
            ),
        ),
        Claim(
            "H17-repeat", "6 % of runs differ when repeated", _RULES, (),
            untested("in virtual time a repeated run is the same to the bit"),
        ),
    ]  # fmt: skip


def _latency() -> list[Claim]:
    return [
        Claim(
            "H18-latency", "spread files are read up to 67 times, and written 4 times, as slowly", _LATENCY,
            (), untested("on the lab's disks every seek takes equally long, so only the number of extents would count"),
        ),
    ]  # fmt: skip
