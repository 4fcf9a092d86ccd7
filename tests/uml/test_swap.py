"""Swap and zram: a program whose memory is on the disk waits for it, and `why` says who took memory."""

import pytest
from support.guestlab import Lab

from wblab.analysis.runs.run import Run
from wblab.analysis.why.explain import Explanation, explain
from wblab.analysis.why.parties import SWAPPED_MEMORY
from wblab.analysis.why.recorded import read_recorded
from wblab.report.whyanswer import sentence
from wblab.report.whycause import accused, groups

BOUND_NS = 300_000_000
ZRAM = ("disk.swap.model=zram", "disk.swap.on=[]", "load.browser.size=64MiB")  # with more it is itself too large
SSD = ("disk.swap.model=device", "disk.swap.on=[]", "disk.swap.driver=sata", "disk.swap.write_bps=200MiB/s")


@pytest.fixture(scope="module")
def known(storage_lab: Lab) -> Run:
    return storage_lab.run("swap")


@pytest.fixture(scope="module")
def pauses(known: Run) -> list[Explanation]:
    return [item for item in explain(known, read_recorded(known), bound_ns=BOUND_NS) if item.load != "c1"]


def longest_ns(run: Run, *loads: str) -> int:
    return max(int(run.load(name).pauses_ns.max()) for name in loads)


def test_memory_that_was_swapped_out_is_waited_for(pauses: list[Explanation]) -> None:
    editor = [item for item in pauses if item.load == "editor"]
    assert max(item.pause_ns for item in editor) > 1_000_000_000
    assert sum(item.parts.get("swap-in", 0) for item in editor) > 0.5 * sum(item.pause_ns for item in editor)
    short = [item.shortage for item in editor if 2 * item.parts.get("swap-in", 0) > item.pause_ns]
    assert all(each and each.back for each in short)
    assert sum("browser" in each.named for each in short if each) > 0.5 * len(short)


def test_who_took_memory_is_named_where_its_owners_memory_is_written(pauses: list[Explanation]) -> None:
    behind = [group for group in groups(pauses) if group.party == SWAPPED_MEMORY]
    assert behind
    assert all("browser" in accused(group) for group in behind)
    assert all("of swapped memory" in sentence(group) for group in behind)


def test_hardly_anything_is_unknown(pauses: list[Explanation]) -> None:
    assert sum(item.unknown_ns for item in pauses) < 0.05 * sum(item.pause_ns for item in pauses)


@pytest.mark.parametrize("remedy", [SSD, ZRAM], ids=["a fast disk of its own", "zram"])
def test_hardly_anybody_waits_where_swap_is_fast(storage_lab: Lab, known: Run, remedy: tuple[str, ...]) -> None:
    run = storage_lab.run("swap", *remedy)
    assert longest_ns(run, "editor", "browser") < 0.2 * longest_ns(known, "editor", "browser")


def test_the_load_that_takes_memory_is_its_cause(storage_lab: Lab, known: Run) -> None:
    run = storage_lab.run("swap", "load.browser.size=1MiB")
    assert run.load("editor").pauses_ns.sum() < 0.5 * known.load("editor").pauses_ns.sum()


@pytest.mark.parametrize(
    "disk",
    [
        "{model='device', size='64MiB', write_bps='20MiB/s', filesystem='swap'}",
        "{model='throttle', size='64MiB', write_bps='20MiB/s', filesystem='swap'}",
        "{model='zram', size='64MiB', filesystem='ext4'}",
    ],
)
def test_a_disk_of_each_kind_is_swapped_to_or_has_files_and_is_given_back(storage_lab: Lab, disk: str) -> None:
    run = storage_lab.run("swap", f"disk.other={disk}", "load.l1.size=1MiB", "load.browser.size=64MiB")
    assert run.record["outcome"] == "succeeded"
    assert set(run.disks) == {"card", "swap", "other"}


def test_the_other_page_reclaim_is_turned_on(storage_lab: Lab, known: Run) -> None:
    run = storage_lab.run("swap", "sysctl.mm.lru_gen.enabled=y")
    assert longest_ns(run, "editor", "browser") != longest_ns(known, "editor", "browser")
