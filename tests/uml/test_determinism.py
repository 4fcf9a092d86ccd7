"""In virtual time the same spec, seed and kernel build give the same bytes; the seed alone changes them."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from wblab.core.rundir import TRACE
from wblab.core.specfile import ROOT
from wblab.data.difference import first_differences
from wblab.data.run import Run, read_run
from wblab.host.command import interpreter
from wblab.host.disk import tool_path
from wblab.host.kernel import list_kernels

RUNS = 20
ANOTHER = 54321  # a user
EVENTS = '["block:block_rq_*", "jbd2", "sched:sched_switch", "writeback:balance_dirty_pages"]'
SHORT = (
    *("disk.size=64MiB", "trace.buffer=16M", "sysctl.vm.dirty_ratio=10", "sysctl.vm.dirty_background_ratio=5"),
    *("load.l1.wait=1s", "load.l1.size=16MiB", "load.l2.wait=6s", "load.l2.size=2MiB"),
)
XFS = ("disk.filesystem=xfs", "disk.size=320MiB")
SYNC = ('disk.mount_options=["sync"]', "load.l1.size=128KiB", "load.l2.size=64KiB")


def digest(run: Run) -> str:
    """sha256 over every load's timestamps, and over every event of the trace with its timestamp."""
    total = sha256()
    for load in run.loads:
        total.update(load.name.encode() + load.boundaries_ns.tobytes())
    events = subprocess.run(
        [str(tool_path("trace-cmd")), "report", "-t", "-R", "-i", str(run.path / TRACE)],
        capture_output=True,
        check=True,
    ).stdout
    assert events.count(b"balance_dirty_pages") > 100
    total.update(events)
    return total.hexdigest()


@contextmanager
def busy_loops() -> Iterator[None]:
    others = max(1, (os.cpu_count() or 1) - 1)
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(others)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def test_twenty_runs_give_the_same_bytes_also_beside_busy_loops(shared_lab):
    digests = {digest(shared_lab.run("base", *SHORT, f"trace.events={EVENTS}")) for _ in range(RUNS // 2)}
    with busy_loops():
        digests |= {digest(shared_lab.run("base", *SHORT, f"trace.events={EVENTS}")) for _ in range(RUNS // 2)}
    assert len(digests) == 1


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
    assert first_differences(first, second) == []
    assert len(first.load("l1").boundaries_ns) > 100


def test_the_seed_alone_changes_a_run(shared_lab):
    first, again, other = (digest(shared_lab.run("base", *SHORT, f"seed={seed}")) for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_neither_name_nor_place_changes_a_run(shared_lab, lab):
    assert digest(shared_lab.run("base")) == digest(lab.run("base", "name=a-longer-name.than-before"))


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to be another user as well")
def test_root_and_another_user_get_the_same_bytes(shared_lab):
    """The numbers of owners must not reach the guest's memory: of large ones Python makes objects."""
    with tempfile.TemporaryDirectory() as place:
        home = Path(place)
        for name in ("wblab", "experiments", "linux-uml", "experiment.py"):
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy2
            copy(ROOT / name, home / name)
        shutil.copy2(shared_lab.kernel.path, home / "linux")
        for path in (home, *home.rglob("*")):
            os.chown(path, ANOTHER, ANOTHER)
        home.chmod(0o755)
        command = [
            interpreter(),
            str(home / "experiment.py"),
            "--kernel",
            str(home / "linux"),
            "--exp",
            str(home / "exp"),
        ]
        environment = {"HOME": place, "PATH": os.defpath}
        done = subprocess.run(
            command,
            cwd=place,
            env=environment,
            user=ANOTHER,
            group=ANOTHER,
            extra_groups=[],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        (directory,) = (home / "exp").glob("2*")
        differences = first_differences(shared_lab.run("base"), read_run(directory))
    assert differences == []


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to change what a machine has")
def test_a_machine_that_is_set_up_otherwise_gives_the_same_bytes(shared_lab, lab, tmp_path):
    """Files that the host's packages and its owner change: the loader's list of libraries, time zone, locales."""
    libraries, zone, locales = tmp_path / "ld.so.cache", tmp_path / "localtime", tmp_path / "locale"
    libraries.write_bytes(Path("/etc/ld.so.cache").read_bytes() + bytes(64 << 10))
    zone.touch()
    locales.mkdir()
    places = {"/etc/ld.so.cache": libraries, "/etc/localtime": zone, "/usr/lib/locale": locales}
    mounts = [f"mount --bind {ours} {theirs}" for theirs, ours in places.items() if Path(theirs).exists()]
    script = " && ".join([*mounts, 'exec "$@"'])
    settings = [f"--set={setting}" for setting in SHORT]
    command = ["unshare", "--mount", "sh", "-c", script, "sh", *lab.command("base", *settings)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (directory,) = lab.results.glob("2*")
    assert first_differences(shared_lab.run("base", *SHORT), read_run(directory)) == []
