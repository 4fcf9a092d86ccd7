"""A copy into a filesystem in a file, by a loop device: whom it stalls, and which queue must be short."""

import numpy as np
import tracecmd
from support.guestlab import Lab

from wblab.analysis.runs.pauses import load_pauses
from wblab.analysis.runs.run import Run
from wblab.analysis.why.explain import explain
from wblab.analysis.why.recorded import read_recorded
from wblab.core.rundir import TRACE
from wblab.report.whycause import groups

BOUND_NS = 300_000_000
DIRECT = "disk.image.direct_io=true"
# In turn of the image and of the disk below.
SHORT, SHORT_BELOW = (
    (f"disk.{disk}.queue.nr_requests=4", f"disk.{disk}.queue.max_sectors_kb=128") for disk in ("image", "host")
)


def longest_s(run: Run, load: str) -> float:
    return load_pauses(run.load(load), 0).longest_pause_s


def dirtied_below(run: Run) -> int:
    """Return how many folios became dirty on the disk below."""
    with tracecmd.open(run.path / TRACE) as trace:
        return int(np.sum(trace.events("writeback_dirty_folio")["name"] == run.disks["host"].device))


def test_direct_io_and_a_short_queue_of_the_loop_help_only_together(shared_lab: Lab) -> None:
    cached, direct = shared_lab.once("loop-device"), shared_lab.once("loop-device", DIRECT)
    below = shared_lab.once("loop-device", *SHORT_BELOW)
    queue, both = shared_lab.once("loop-device", *SHORT), shared_lab.once("loop-device", DIRECT, *SHORT)
    assert min(longest_s(run, "db-image") for run in (cached, direct, below, queue)) > 2.5
    assert longest_s(both, "db-image") < 1.5
    assert longest_s(both, "db-host") < 0.5 < longest_s(queue, "db-host")


def test_without_the_loop_a_short_queue_of_the_disk_is_enough(shared_lab: Lab) -> None:
    on_the_disk = [f"load.{load}.disk=host" for load in ("db-image", "log-image", "copy")]
    beside = shared_lab.once("loop-device", *on_the_disk, *SHORT_BELOW)
    assert longest_s(beside, "db-image") < 1.5


def test_only_without_direct_io_the_data_is_cached_twice(shared_lab: Lab) -> None:
    cached, direct = shared_lab.once("loop-device"), shared_lab.once("loop-device", DIRECT)
    assert dirtied_below(cached) > 10 * dirtied_below(direct)


def test_the_copy_is_named_with_direct_io_and_without(shared_lab: Lab) -> None:
    for settings in ((), (DIRECT,)):
        run = shared_lab.once("loop-device", *settings)
        causes = groups(explain(run, read_recorded(run), "", BOUND_NS))
        assert causes[0].party == "copy"
        assert "db-image" in {item.load for cause in causes if cause.party == "copy" for item in cause.items}


def test_the_loop_s_worker_is_throttled_on_the_disk_below(shared_lab: Lab) -> None:
    """PF_LOCAL_THROTTLE exempts it from the limit of all disks while its own has few dirty pages, here it has many."""
    run = shared_lab.once("loop-device")
    chains = [chain for item in explain(run, read_recorded(run), "", BOUND_NS) for chain in item.chains]
    workers = [did for chain in chains for name, did in chain.links[1:] if name.startswith("kworker/")]
    assert "throttled" in workers
