"""The way of requests down to the disk, from a trace."""

import struct
from types import SimpleNamespace

import pytest
import tracecmd
from blocks import delayed, size_classes, splits, steps_frame
from support.runs import MS
from support.tracewriter import Ring, TraceWriter, event_format

from wblab.analysis.runs.blocks import BIOS, disks_from_above, steps, submitted
from wblab.analysis.runs.pagecache import PageCache
from wblab.core.errors import InputError

S = 1000 * MS
KIB = 1024
LINE, A = 253 << 20, 98 << 20
DISKS = {"98:0": "a", "253:0": "line"}
SOME = "u32 dev 8 4 0\nu64 sector 16 8 0\nunsigned int nr_sector 24 4 0\nchar rwbs[8] 28 8 0"
FORMATS = {
    "block_bio_queue": (800, SOME),
    "block_bio_backmerge": (801, SOME),
    "block_rq_issue": (802, SOME),
    "block_split": (803, "u32 dev 8 4 0\nu64 sector 16 8 0\nu64 new_sector 24 8 0"),
    "block_bio_remap": (804, SOME + "\nu32 old_dev 36 4 0\nu64 old_sector 40 8 0"),
}


@pytest.fixture
def cache(tmp_path):
    """Return a function that makes a page cache of block events: time in ms, name, disk, place and size in KiB."""

    def make(*events, disks=DISKS):
        ring, before, entries = Ring(), S, []
        for ms, name, disk, place, size, *more in events:
            flags, below = (more[0] if more else "W").encode(), more[1:]
            body = struct.pack("<I4xQ", disk, place * 2)
            body += struct.pack("<Q", size * 2) if name == "block_split" else struct.pack("<I8s", size * 2, flags)
            if name == "block_bio_remap":
                body += struct.pack("<IQ", *below)
            entries.append(ring.extend(S + ms * MS - before) + ring.data(0, ring.record(FORMATS[name][0], 9, body)))
            before = S + ms * MS
        known = {"block": [event_format(name, number, fields) for name, (number, fields) in FORMATS.items()]}
        path = tmp_path / "trace.dat"
        pages = [ring.page(S, entries)]
        path.write_bytes(TraceWriter(ring, formats=known, cmdlines="9 md0_resync\n", buffers={"": [pages]}).encode())
        return PageCache(tracecmd.open(path), {}, disks)

    return make


def grown(cache):
    """Return a trace of a read and of three bios of 4 KiB to a linear target, which become one request."""
    bios = [(at, "block_bio_queue", disk, 4 * at, 4) for disk in (LINE, A) for at in (0, 1, 2)]
    merges = [(3, "block_bio_backmerge", A, 4, 4), (3, "block_bio_backmerge", A, 8, 4)]
    return cache(*sorted(bios), *merges, (4, "block_rq_issue", A, 0, 12), (5, "block_rq_issue", A, 90, 4, "R"))


def of(trace):
    """Return what a notebook reads of a run."""
    return SimpleNamespace(trace=trace, zero_ns=S)


def test_bios_become_one_request(cache):
    frame = steps_frame(of(grown(cache)))
    assert frame.index.tolist() == [("line", "bio"), ("a", "bio"), ("a", "merged"), ("a", "issued")]
    assert frame["writes"].tolist() == [3, 3, 2, 1]
    assert frame["total_kib"].tolist() == [12, 12, 8, 12]
    assert frame["mean_kib"].tolist() == [4, 4, 4, 12]
    assert frame["largest_kib"].tolist() == [4, 4, 4, 12]


def test_sizes_are_counted_up_to_powers_of_two(cache):
    classes = size_classes(of(grown(cache)))
    assert classes.columns.tolist() == [4, 16]
    assert classes.loc[("line", "bio")].tolist() == [3, 0]
    assert classes.loc[("a", "issued")].tolist() == [0, 1]


def test_a_single_disk_has_no_name(cache):
    found = cache((0, "block_bio_queue", A, 0, 4), (1, "block_rq_issue", A, 0, 4), disks={})
    assert disks_from_above(found) == [""]
    assert list(steps(found)) == [("", "bio"), ("", "issued")]


def test_flushes_do_not_count_as_writes(cache):
    found = submitted(cache((0, "block_bio_queue", A, 0, 0, "FW"), (1, "block_bio_queue", A, 0, 4)), BIOS)
    assert found.size.tolist() == [4 * KIB]


def test_splits_of_a_layer_are_counted(cache):
    assert splits(of(cache((0, "block_split", A, 0, 64), (1, "block_split", A, 64, 128)))) == {"line": 0, "a": 2}
    with pytest.raises(InputError, match="has no event 'no_such'"):
        submitted(cache((0, "block_bio_queue", A, 0, 4)), "no_such")


def test_rows_are_selected_by_task_suffix_and_by_range(cache):
    found = submitted(grown(cache), BIOS)
    assert len(found.by("_resync")) == len(found)
    assert len(found.by("_recovery")) == 0
    assert found.of("a").inside(6 * KIB, KIB).place.tolist() == [4 * KIB]
    assert found.of("a").inside(0, 12 * KIB).size.sum() == 12 * KIB


def test_a_mirror_delays_a_write_until_its_remap(cache):
    def write(ms, place, on_ms):
        bio = (ms, "block_bio_queue", LINE, place, 4)
        return [bio, *((on_ms, "block_bio_remap", A, place, 4, "W", LINE, place * 2) for _ in range(2))]

    other = (6, "block_bio_remap", A, 4, 4, "W", A, 8)  # of another layer
    events = [*write(0, 0, 0), *write(1, 4, 21), other, *write(30, 0, 33)]
    pairs = delayed(of(cache(*sorted(events, key=lambda event: event[0]))), "line")
    assert pairs["delay_ms"].tolist() == [0, 20, 3]
    assert pairs["place"].tolist() == [0, 4 * KIB, 0]
