"""The trace reader compared with libtracecmd, on new traces of a guest."""

import pytest
import tracecmd
from support import oracle

from wblab.core.rundir import TRACE
from wblab.host.recorded import RunFailedError

BROAD = '["writeback", "ext4", "block", "jbd2", "sched", "timer", "irq", "workqueue"]'


def check(tmp_path, trace):
    program = oracle.build(tmp_path)
    said = oracle.said(program, trace)
    assert oracle.events(trace) == {(buffer, event) for buffer, event, _, _ in said}
    assert oracle.read(trace, set(said)) == said


@pytest.mark.parametrize("settings", [(), (f"trace.events={BROAD}", "trace.buffer=32M")], ids=["base", "broad"])
def test_sums_of_every_field_agree_with_trace_cmd(shared_lab, tmp_path, settings):
    check(tmp_path, shared_lab.once("base", *settings).path / TRACE)


def test_sums_agree_for_a_trace_with_lost_events(lab, tmp_path):
    with pytest.raises(RunFailedError, match="lost"):
        lab.run("base", f"trace.events={BROAD}", "trace.buffer=64K", "trace.blame=never")
    (trace,) = lab.results.glob(f"_*/{TRACE}")
    check(tmp_path, trace)
    with tracecmd.open(trace) as opened:
        assert opened.lost
        assert all((lost.count == -1 or lost.count > 0) and lost.start_ns <= lost.end_ns for lost in opened.lost)
