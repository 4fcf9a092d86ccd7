"""The pages of folios that events name by their first page, for traces written by hand."""

import pytest
import tracecmd
from support.blametraces import DEVICE, Story

from wblab.analysis.runs.folios import pages, pages_of, sizes_known

L1, OTHER = 8, DEVICE | 16


@pytest.fixture
def read(tmp_path):
    """Return a function that returns the pages of the folios that a story dirties, and whether they are known."""

    def read(story):
        path = tmp_path / "trace.dat"
        path.write_bytes(story.encode())
        with tracecmd.open(path) as trace:
            events = trace.events("writeback_dirty_folio")
            return pages_of(trace, trace.sequence(), events).tolist(), sizes_known(trace)

    return read


def test_a_folio_has_the_pages_with_which_it_came_last(read):
    story = Story({L1: "l1"})
    story.folio(0, L1, 13, 256, order=8)
    story.dirty(1, L1, 13, 256)
    story.dirty(2, L1, 13, 512)  # of one page: it came without an event
    story.dirty(3, L1, 14, 256)
    story.folio(4, L1, 13, 256, order=8, is_gone=True)
    story.dirty(5, L1, 13, 256)
    story.folio(6, L1, 13, 256, order=2)
    story.dirty(6, L1, 13, 256)
    assert read(story) == ([256, 1, 1, 1, 4], True)


def test_files_of_other_disks_have_their_own_folios(read):
    """A bdi has the number of a whole disk; 259:3 is a partition of 98:0, 0:7 the filesystem of btrfs-1."""
    story, partition = Story({L1: "l1"}), 259 << 20 | 3
    story.folio(0, L1, 13, 0, order=4, device=OTHER)
    story.folio(0, L1, 14, 0, order=3, device=partition)
    story.folio(0, L1, 257, 0, order=2, device=7)
    for inode, bdi in ((13, "98:16"), (13, "98:0"), (14, "98:0"), (257, "btrfs-1"), (257, "98:16")):
        story.dirty(1, L1, inode, 0, bdi=bdi)
    assert read(story)[0] == [16, 1, 8, 4, 1]


def test_without_events_of_folios_of_several_pages_there_was_none_if_they_were_wanted(read):
    story = Story({L1: "l1"})
    story.dirty(0, L1, 13, 0)
    assert read(story) == ([1], True)
    unwanted = Story({L1: "l1"})
    unwanted.formats = {system: formats for system, formats in Story.formats.items() if system != "filemap"}
    unwanted.dirty(0, L1, 13, 0)
    assert read(unwanted) == ([1], False)


def test_a_damaged_trace_has_no_folios_without_end(tmp_path):
    story = Story({L1: "l1"})
    for inode in range(300):
        story.folio(0, L1, inode, 0, order=255)
        story.dirty(0, L1, inode, 0)
    path = tmp_path / "trace.dat"
    path.write_bytes(story.encode())
    with tracecmd.open(path) as trace, pytest.raises(tracecmd.TraceError, match="damaged"):
        pages(trace, trace.sequence(), trace.events("writeback_dirty_folio"))
