"""In virtual time the same spec, seed and kernel build give the same bytes; the seed alone changes them."""

import os
import shutil
import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

from wblab.data.difference import first_differences
from wblab.data.digest import digest
from wblab.data.run import Run, read_run
from wblab.host.command import interpreter
from wblab.host.kernel import list_kernels

from .conditions import CONDITIONS, NEED_ROOT, set_up_otherwise
from .fixtures import FIXTURES

EVENTS = '["block:block_rq_*", "jbd2", "sched:sched_switch", "writeback:balance_dirty_pages"]'
SHORT = (
    *("disk.size=64MiB", "trace.buffer=16M", "sysctl.vm.dirty_ratio=10", "sysctl.vm.dirty_background_ratio=5"),
    *("load.l1.wait=1s", "load.l1.size=16MiB", "load.l2.wait=6s", "load.l2.size=2MiB"),
)
XFS = ("disk.filesystem=xfs", "disk.size=320MiB")
SYNC = ('disk.mount_options=["sync"]', "load.l1.size=128KiB", "load.l2.size=64KiB")
REPLAYS = [(fixture, condition) for condition in CONDITIONS for fixture in FIXTURES]
SAMPLE = [(list(FIXTURES)[number % len(FIXTURES)], condition) for number, condition in enumerate(CONDITIONS)]
ROUNDS = -(-100 // len(REPLAYS))


@pytest.fixture(scope="module")
def undisturbed(shared_lab):
    """Return what gives the run of a fixture with which others are compared, made once."""
    made: dict[str, Run] = {}

    def run(fixture: str) -> Run:
        if fixture not in made:
            preset, settings = FIXTURES[fixture]
            made[fixture] = shared_lab.run(preset, *settings, f"trace.events={EVENTS}")
        return made[fixture]

    return run


@pytest.fixture
def replay(lab, readable_lab, tmp_path):
    """Return what makes the run of a fixture under a condition."""

    def run(fixture: str, name: str) -> Run:
        if os.geteuid() and name in NEED_ROOT:
            pytest.skip(f"needs root, for the condition {name!r}")
        condition = CONDITIONS[name]
        preset, settings = FIXTURES[fixture]
        with tempfile.TemporaryDirectory(dir="/var/tmp") as home:  # where another user gets to
            shutil.copy2(lab.kernel.path, Path(home, "linux"))
            before = set_up_otherwise(tmp_path) if name == "set-up" else condition.before
            program = [interpreter(), str(readable_lab / "experiment.py"), preset]
            options = ["--kernel", f"{home}/linux", "--exp", f"{home}/exp"]
            options += [f"--set={setting}" for setting in (*settings, f"trace.events={EVENTS}")]
            environment = {"HOME": home, "PATH": os.defpath, **condition.environment}
            user = {}
            if condition.user:
                user = {"user": condition.user, "group": condition.user, "extra_groups": []}
                os.chown(home, condition.user, condition.user)
            with condition.beside():
                done = subprocess.run(
                    [*before, *program, *options], env=environment, capture_output=True, text=True, check=False, **user
                )
            assert done.returncode == 0, done.stderr
            return read_run(shutil.copytree(done.stdout.strip(), tmp_path / Path(done.stdout.strip()).name))

    return run


def assert_same(one: Run, other: Run) -> None:
    assert first_differences(one, other) == []
    assert digest(one) == digest(other)


@pytest.mark.parametrize(("fixture", "condition"), [pytest.param(*which, id="-".join(which)) for which in SAMPLE])
def test_a_sample_of_replays_gives_the_same_bytes(undisturbed, replay, fixture, condition):
    assert_same(undisturbed(fixture), replay(fixture, condition))


@pytest.mark.soak
@pytest.mark.parametrize("turn", range(ROUNDS))
@pytest.mark.parametrize(("fixture", "condition"), [pytest.param(*which, id="-".join(which)) for which in REPLAYS])
def test_a_hundred_replays_give_the_same_bytes(undisturbed, replay, fixture, condition, turn):
    assert_same(undisturbed(fixture), replay(fixture, condition))


@pytest.mark.parametrize(
    ("preset", "settings"),
    [
        pytest.param("base", ("disk.filesystem=ext2",), id="ext2"),
        pytest.param("base", ("disk.filesystem=ext3",), id="ext3"),
        pytest.param("base", XFS, id="xfs"),
        pytest.param("base", SYNC, id="sync"),
        pytest.param("base", ("disk.scheduler=bfq",), id="bfq"),
        pytest.param("base-device", (), id="device"),
        pytest.param("base-device", ("disk.scheduler=none",), id="device-none"),
        pytest.param("base-device", ("disk.scheduler=kyber",), id="device-kyber"),
        pytest.param("base-device", ("disk.scheduler=bfq", "load.l1.ioclass=idle"), id="device-bfq-idle"),
    ],
)
def test_every_filesystem_and_disk_gives_the_same_bytes_again(shared_lab, preset, settings):
    assert_repeats(shared_lab, preset, *settings)


@pytest.mark.parametrize("series", [listed.series for listed in list_kernels() if not listed.default])
def test_every_series_gives_the_same_bytes_again(shared_lab, series):
    built = {listed.series: listed.kernel for listed in list_kernels()}[series]
    if not built:
        pytest.skip(f"the kernel {series} is not built: wblab kernel build {series}")
    assert_repeats(replace(shared_lab, kernel=built), "base")


def assert_repeats(lab, preset, *settings):
    first, second = (lab.run(preset, *SHORT, f"trace.events={EVENTS}", *settings) for _ in range(2))
    assert_same(first, second)
    assert len(first.load("l1").boundaries_ns) > 100


def test_the_seed_alone_changes_a_run(shared_lab):
    first, again, other = (digest(shared_lab.run("base", *SHORT, f"seed={seed}")) for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_neither_name_nor_place_changes_a_run(shared_lab, lab):
    assert digest(shared_lab.run("base")) == digest(lab.run("base", "name=a-longer-name.than-before"))
