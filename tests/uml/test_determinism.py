"""In virtual time the same spec, seed and kernel build give the same bytes: a sample of ways to see that."""

import re
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
import tracecmd
from support.conditions import CONDITIONS
from support.labcopy import copy_lab
from support.lottery import draw, some
from support.quickruns import FIXTURES
from support.replay import measured, replay, seen
from support.witness import plant_witness

from wblab.analysis.runs.difference import first_differences
from wblab.analysis.runs.digest import digest
from wblab.analysis.runs.run import Run
from wblab.core.rundir import TRACE
from wblab.kernels import catalog, find_kernel
from wblab.lab.formats import CONSOLE
from wblab.lab.packages import tool_path
from wblab.study.inputs import excuses

EVENTS = '["block:block_rq_*", "jbd2", "sched:sched_switch", "writeback:balance_dirty_pages"]'
FILES = '"filemap", "writeback:writeback_dirty_folio"'
SHORT = (
    *("disk.size=64MiB", "trace.buffer=16M", "sysctl.vm.dirty_ratio=10", "sysctl.vm.dirty_background_ratio=5"),
    *("load.l1.wait=1s", "load.l1.size=16MiB", "load.l2.wait=6s", "load.l2.size=2MiB"),
)
XFS = ("disk.filesystem=xfs", "disk.size=320MiB")
OTHERS = {
    name: (f"disk.filesystem={name}", f"disk.size={size}", "load.l1.size=8MiB")
    for name, size in {"btrfs": "160MiB", "f2fs": "128MiB", "vfat": "64MiB", "exfat": "64MiB"}.items()
}
SYNC = ('disk.mount_options=["sync"]', "load.l1.size=128KiB", "load.l2.size=64KiB")
SERIES = [entry.name for entry in catalog.load().series]
REPLAYS = [(fixture, condition) for condition in CONDITIONS for fixture in FIXTURES]
SAMPLE = [which for which in REPLAYS if "-".join(which) in draw(["-".join(each) for each in REPLAYS], 4)]
ROUNDS = -(-100 // len(REPLAYS))


@pytest.fixture(scope="module")
def replayed(kernel, tmp_path_factory):
    """Return a function that makes a fixture's run under a condition and lists its differences from the original."""
    undisturbed: dict[str, Run] = {}
    with tempfile.TemporaryDirectory(dir="/var/tmp", prefix="wblab-tests-") as copy:
        lab = copy_lab(Path(copy))
        plant_witness(lab)

        def run(fixture: str, condition: str) -> list[object]:
            place = tmp_path_factory.mktemp("replays")
            if fixture not in undisturbed:
                undisturbed[fixture] = replay(lab, kernel, fixture, "idle", place)
            runs = undisturbed[fixture], replay(lab, kernel, fixture, condition, place)
            return measured(*runs) + seen(*runs)

        yield run


@pytest.mark.parametrize(("fixture", "condition"), [pytest.param(*which, id="-".join(which)) for which in SAMPLE])
def test_a_sample_of_replays_gives_the_same_bytes(replayed, fixture, condition):
    assert replayed(fixture, condition) == []


@pytest.mark.soak
@pytest.mark.parametrize("turn", range(ROUNDS))
@pytest.mark.parametrize(("fixture", "condition"), [pytest.param(*which, id="-".join(which)) for which in REPLAYS])
def test_a_hundred_replays_give_the_same_bytes(replayed, fixture, condition, turn):
    assert replayed(fixture, condition) == []


DISKS = {
    "ext2": ("base", ("disk.filesystem=ext2",)),
    "ext3": ("base", ("disk.filesystem=ext3",)),
    "xfs": ("base", XFS),
    "sync": ("base", SYNC),
    **{name: ("base", settings) for name, settings in OTHERS.items()},
    "bfq": ("base", ("disk.scheduler=bfq",)),
    "device": ("base-device", ()),
    "device-none": ("base-device", ("disk.scheduler=none",)),
    "device-kyber": ("base-device", ("disk.scheduler=kyber",)),
    "device-bfq-idle": ("base-device", ("disk.scheduler=bfq", "load.l1.ioclass=idle")),
}


@pytest.mark.parametrize("name", some(DISKS, 3))
def test_every_filesystem_and_disk_is_reproducible(shared_lab, name):
    if name in OTHERS and tool_path(f"mkfs.{name}") is None:
        pytest.skip(f"what makes a filesystem is not installed: mkfs.{name}")
    preset, settings = DISKS[name]
    assert_repeats(shared_lab, preset, *settings)


@pytest.mark.parametrize("series", some(SERIES, 1), indirect=True)
def test_every_kernel_series_is_reproducible(shared_lab, series):
    assert_repeats(replace(shared_lab, kernel=find_kernel(series)), "base")


def assert_repeats(lab, preset, *settings):
    first, second = (lab.run(preset, *SHORT, f"trace.events={EVENTS}", *settings) for _ in range(2))
    assert first_differences(first, second) == []
    assert digest(first) == digest(second)
    assert len(first.load("l1").boundaries_ns) > 100


def test_the_name_and_directory_of_a_run_do_not_change_it(shared_lab, lab):
    assert digest(shared_lab.run("base")) == digest(lab.run("base", "name=a-longer-name.than-before"))


def test_packages_of_the_host_reach_only_programs_that_ask_for_them(lab, monkeypatch):
    """How many entries a directory has decides how often it is read, and each system call moves all later events."""
    with tempfile.TemporaryDirectory(dir="/var/tmp", prefix="wblab-tests-") as environment:
        packages = Path(environment, "lib", "python3", "site-packages")
        packages.mkdir(parents=True)
        Path(environment, "bin").mkdir()
        Path(environment, "bin", "python3").symlink_to(sys.executable)
        monkeypatch.setattr(sys, "prefix", environment)
        plain, asking = (run_of_python(lab, code) for code in PROGRAMS)
        for number in range(300):
            (packages / f"a-directory-without-anything-in-it-{number}").mkdir()
        later, asking_later = (run_of_python(lab, code) for code in PROGRAMS)
    assert first_differences(plain, later) == []
    assert excuses(plain, later) == []
    assert first_differences(asking, asking_later) != []
    (excuse,) = excuses(asking, asking_later)
    assert excuse.startswith("the runs used different programs in the guest: the lab's packages ")


# A module that does not exist is looked for in all directories of the path.
PROGRAMS = (
    "import json, wblab.core.units, importlib.util as of; of.find_spec('none')",
    "import json, importlib.util as of; of.find_spec('none') # wblab",
)


def run_of_python(lab, code):
    load = f"load={{go={{kind='command', wait='1s', argv=['python3', '-c', \"{code}\"]}}}}"
    return lab.run("base", 'trace.events=["raw_syscalls", "sched:sched_switch"]', load)


def test_the_path_and_inodes_of_shared_memory_do_not_change_a_run(lab, monkeypatch):
    """The traces have the events of all files, also of the trace itself on hostfs: no host data may be in them."""
    settings = (*SHORT, f"trace.events={EVENTS[:-1]}, {FILES}]")
    runs = []
    for depth in range(0, 9, 4):
        deep = lab.shm.joinpath(*"abcdefgh"[:depth])
        deep.mkdir(parents=True, exist_ok=True)
        (deep / "an-inode-more").touch()
        monkeypatch.setenv("WBLAB_SHM", str(deep))
        runs.append(lab.run("base", *settings))
    assert len({(run.path / TRACE).read_bytes() for run in runs}) == 1
    with tracecmd.open(runs[0].path / TRACE) as trace:
        assert len(trace.events("mm_filemap_add_to_page_cache").ts_ns) > 100


BRIEF = ("load.l1.wait=1s", "load.l1.size=1MiB", "load.l2.wait=1s", "load.l2.size=1MiB")
SHOWN = (
    'trace.events=["irq:irq_handler_entry"]',
    *('kernel.parameters.trace_event="irq:irq_handler_entry"', "kernel.parameters.tp_printk=true"),
)
OWN = {"hr timer", "SIGCHLD"}  # the clock, and the end of one of the guest's processes, which the kernel waits for


def test_the_host_does_not_interrupt_the_guest(series, shared_lab):
    run = replace(shared_lab, kernel=find_kernel(series)).run("base", *BRIEF, *SHOWN)
    names = re.findall(r"irq_handler_entry: irq=\d+ name=(.*)", (run.path / CONSOLE).read_text())
    assert len(names) > 100
    assert set(names) <= OWN
