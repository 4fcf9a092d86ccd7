"""RWF_DONTCACHE: the kick comes and does not end the flusher's stop, and who writes by the page cache pays for it."""

import re
from dataclasses import replace

import tracecmd
from support.guestlab import Lab

from wblab.analysis.runs.metrics import load_metrics
from wblab.analysis.runs.run import Run, read_run
from wblab.core.rundir import TRACE
from wblab.host.request import make_run, ready
from wblab.lab.formats import CONSOLE
from wblab.lab.results import MATRICES
from wblab.study.designs.matrix.factorial import read_matrix

KICK = 7  # WB_REASON_DONTCACHE of 7.2


def cell_run(lab: Lab, matrix: str, level: str, *events: str) -> Run:
    """Make the run of a cell of a matrix with one axis, with the first seed."""
    (cell,) = (one for one in read_matrix(MATRICES.find(matrix)).cells if level in one.levels.values())
    spec = cell.with_seed(1)
    request = ready(replace(spec, trace=replace(spec.trace, events=events)), lambda name: lab.kernel)
    return read_run(make_run(request, lab.results).directory)


def test_the_flusher_writes_at_each_kick_and_the_writer_stalls_all_the_same(lab: Lab) -> None:
    run = cell_run(lab, "dontcache-two-disks", "dc", "writeback:writeback_start", "writeback:balance_dirty_pages")
    said = re.search(r"calls of 4096 bytes: the longest (\S+) s", (run.path / CONSOLE).read_text())
    assert said
    assert float(said[1]) > 1
    with tracecmd.open(run.path / TRACE) as trace:
        kicks = trace.events("writeback_start")["reason"] == KICK
        assert sum(kicks) > 100


def test_a_writer_by_the_page_cache_is_slower_beside_the_flag_than_beside_one_that_submits_itself(lab: Lab) -> None:
    rates = {
        how: load_metrics(cell_run(lab, "dontcache", how).load("l1"))["throughput_bps"]
        for how in ("the flag", "submits itself")
    }
    assert rates["the flag"] < 0.75 * rates["submits itself"]
