"""Control groups on one filesystem: who commits waits for another's file, `why` names the group, and what helps."""

from support.guestlab import Lab

from wblab.analysis.runs.pauses import load_pauses
from wblab.analysis.runs.run import Run
from wblab.analysis.why.explain import explain
from wblab.analysis.why.recorded import read_recorded
from wblab.report.whyanswer import containers
from wblab.report.whycause import groups

BOUND_NS = 300_000_000
SILENT = "trace.events=[]"
ALONE = ("load.batch.size=4KiB", "load.backup.size=4KiB", SILENT)
# As "all at once" of the matrix.
CURED = (
    *("load.db.size=1MiB", "disk.data.scheduler=bfq", SILENT),
    *("disk.data.queue.nr_requests=4", "disk.data.queue.max_sectors_kb=32"),
    *("cgroup.batch.files.memory.max=max", "cgroup.batch.files.io.max={disk.data} wbps=10485760"),
)


def longest_commit(run: Run) -> float:
    return load_pauses(run.load("db"), 0).longest_pause_s


def test_a_commit_takes_over_a_hundred_times_as_long_and_the_group_is_named(shared_lab: Lab) -> None:
    alone, beside = shared_lab.once("neighbours", *ALONE), shared_lab.once("neighbours")
    assert longest_commit(beside) > 100 * longest_commit(alone)
    cause, *_ = groups(explain(beside, read_recorded(beside), "", BOUND_NS))
    assert "db" in {item.load for item in cause.items}
    assert containers(cause) == ["batch is in the control group batch."]


def test_a_cure_on_the_same_disk_makes_it_less_than_twice_as_long(shared_lab: Lab) -> None:
    alone, cured = shared_lab.once("neighbours", *ALONE), shared_lab.once("neighbours", *CURED)
    assert longest_commit(cured) < 2 * longest_commit(alone)
