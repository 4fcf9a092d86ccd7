"""Names of the files in explanations: path, else writers, else number."""

import json
from dataclasses import asdict

import pytest
from support.blametraces import Story
from support.runs import MS, write_run

from wblab.analysis.runs.run import read_run
from wblab.analysis.why.explain import explain
from wblab.analysis.why.recorded import read_recorded
from wblab.lab.layouts import LAYOUTS, Layout, Region
from wblab.report.whytext import of_cause

from .conftest import MW1
from .test_explain import COMMS, FLUSHER, IRQ, L1, NAP, NAP_ENDS, SHADOW_ENDS, blocked

FOLIO = ("__schedule", "io_schedule", "folio_wait_bit_common", "folio_wait_writeback", "truncate", "sys_openat")
FOLIO_ENDS = ("try_to_wake_up", "wake_page_function", "folio_wake_bit", "folio_end_writeback", *IRQ)
INODE = ("__schedule", "schedule", "__wait_on_bit", "inode_wait_for_writeback", "evict", "sys_unlink")
INODE_ENDS = ("try_to_wake_up", "wake_bit_function", "__wake_up_bit", "inode_sync_complete", "wb_workfn")
TABLE = ("__schedule", "schedule", "out_of_line_wait_on_bit", "do_get_write_access", "ext4_reserve_inode_write")


def cause_of(story_run, story, layout=None):
    blocked(story, 1000, 1100, NAP, NAP_ENDS)
    run, recorded = story_run(story, [0, 1100 * MS])
    if layout:
        (run.path / "disks.json").write_text(json.dumps({"disk": {"device": "98:0", "written_ns": 0}}))
        (run.path / LAYOUTS).write_text(json.dumps({"disk": asdict(layout)}))
        run, recorded = story_run(story, [0, 1100 * MS])
    (found,) = explain(run, recorded)
    return found, found.causes[0]


@pytest.mark.parametrize(
    ("writers", "said"),
    [((), "inode 13"), ((MW1,), "inode 13, a file of mw1"), ((MW1, L1), "inode 13, a file of l1 and mw1")],
    ids=str,
)
def test_a_wait_for_a_page_names_its_file(story_run, writers, said):
    story = Story(COMMS)
    for pid in writers:
        story.dirty(0, pid, 13, 0)
    story.wait_for_page(0, MW1, 13, 0)
    blocked(story, 0, 1000, FOLIO, FOLIO_ENDS)
    found, cause = cause_of(story_run, story)
    assert (cause.kind, cause.file) == ("folio under writeback", said)
    assert f"for a page under writeback ({said})" in of_cause(found, cause)[0]


def test_a_wait_for_an_inode_is_for_the_last_one_written(story_run):
    story = Story(COMMS)
    story.write_inode(0, FLUSHER, 15)
    story.write_inode(0, FLUSHER, 13)
    blocked(story, 0, 1000, INODE, INODE_ENDS, by=FLUSHER)
    _, cause = cause_of(story_run, story)
    assert (cause.kind, cause.file) == ("inode under writeback", "inode 13")


def test_a_block_of_an_inode_table_names_the_files_in_it(story_run):
    story = Story(COMMS)
    story.dirty(0, MW1, 14, 0)
    story.wait_for_block(0, MW1, 294)
    blocked(story, 0, 1000, TABLE, SHADOW_ENDS)
    layout = Layout(1024, 256, 1000, (Region("inode table", 0, 291, 250),))
    _, cause = cause_of(story_run, story, layout)
    assert cause.is_of == "inode table of group 0, inodes 13 to 16, among them inode 14, a file of mw1"


@pytest.mark.parametrize(
    ("others", "said"),
    [
        ((), "inode 13, /mnt/disk/w1"),
        (((L1, 13),), "inode 13, a file of l1 and w1"),  # its path is not certain
        (((7, 14),), "inode 13, a file of w1"),
        (((L1, 14),), "inode 13, /mnt/disk/w1"),
    ],
    ids=str,
)
def test_a_file_has_a_path_if_its_only_writer_has_no_other_file(tmp_path, others, said):
    story = Story({7: "w1", L1: "l1"})
    story.dirty(0, 7, 13, 0)
    for pid, inode in others:
        story.dirty(0, pid, inode, 0)
    story.wait_for_page(0, 7, 13, 0)
    blocked(story, 0, 1000, FOLIO, FOLIO_ENDS, pid=7)
    blocked(story, 1000, 1050, NAP, NAP_ENDS, pid=7)
    path = write_run(tmp_path / "run", {"w1": [story.start_ns, story.start_ns + 1050 * MS]})
    (path / "trace.dat").write_bytes(story.encode())
    run = read_run(path)
    (found,) = explain(run, read_recorded(run))
    assert found.causes[0].file == said
