"""A volume with credits: what a queue holds takes longer when they are used up."""

from support.guestlab import Lab

from wblab.analysis.runs.pauses import load_pauses
from wblab.analysis.runs.run import Run
from wblab.analysis.why.explain import explain
from wblab.analysis.why.recorded import read_recorded
from wblab.report.whyanswer import sentence
from wblab.report.whycause import groups

FITS = ("load.backup.size=48MiB",)
ENDLESS = ("disk.burst_bytes=0", "disk.sustained_bps=0")
SHORT = ("disk.queue.nr_requests=4", "disk.queue.max_sectors_kb=128")


def longest_s(run: Run) -> float:
    return load_pauses(run.load("db"), 0).longest_pause_s


def test_commits_wait_long_only_if_the_credits_end_and_the_queue_is_long(shared_lab: Lab) -> None:
    known = shared_lab.once("burst")
    found = groups(explain(known, read_recorded(known), "", 300_000_000))
    assert "the disk had used up its credits of 64 MiB, and did no more than 2 MiB/s" in sentence(found[0])
    for settings in (FITS, ENDLESS, SHORT):
        assert longest_s(shared_lab.once("burst", *settings)) < longest_s(known) / 5
