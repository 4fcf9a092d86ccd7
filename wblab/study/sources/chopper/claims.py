"""Claims of He and others (Chopper) on where a filesystem puts a small file, and what spreads it over the disk.

Their claims are about shares of 16,384 runs on Linux 3.12. Here each is tested on one file whose blocks lay gigabytes
apart then, or on a file that differs from it in one factor. 'wblab study chopper-ext4' and 'chopper-xfs' give shares.
The seed sets the filesystem's hash, which places directories.
"""

from wblab.analysis.runs.extents import layout_metrics
from wblab.analysis.statistics.decision import over, under
from wblab.study.sources.claim import Claim, Measure, untested
from wblab.study.sources.figures import on_case
from wblab.study.sources.sample import Sample

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
