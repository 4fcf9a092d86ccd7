"""What `wblab on` costs a program that waits for no disk: its start, and each further step, beside the same without."""

import subprocess
import sys

import pytest
from support.benchlog import report
from support.timing import Spent, show, spent

from wblab.on.world import KERNEL

pytestmark = pytest.mark.bench
PYTHON = "/usr/bin/python3"
ALTERNATIONS = 10
# A step that is repeated, and how often in the longer of two programs.
STEPS = {
    "computing": ("x = x * 31 + i & 0xFFFFFFFF", 8_000_000),
    "a system call": ("os.getppid()", 400_000),
    "a write of 4 KiB": ("os.pwrite(file, block, i % 256 * 4096)", 100_000),
}


def program(step, count):
    begin = "import os; x = 0; block = bytes(4096); file = os.open('file', os.O_CREAT | os.O_RDWR)"
    return [PYTHON, "-I", "-S", "-c", f"{begin}\nfor i in range({count}): {step}"]


@pytest.fixture
def run(tmp_path):
    """Runs a command in an empty directory: on the disk `ram`, or without the lab."""
    place = tmp_path / "place"
    place.mkdir()
    lab = [sys.executable, "-m", "wblab", "on", "--kernel", KERNEL, "--exp", str(tmp_path / "exp"), "ram", "--"]

    def run(command, *, in_guest):
        subprocess.run([*(lab if in_guest else []), *command], cwd=place, check=True, stderr=subprocess.DEVNULL)

    run(["true"], in_guest=True)  # what is cached is cached then
    return run


def test_start(run):
    found = {True: [], False: []}
    for _ in range(ALTERNATIONS):
        for in_guest, all_of in found.items():
            all_of.append(spent(lambda of=in_guest: run(["true"], in_guest=of)))
    report("on ram: true", found[True])
    report("without the lab: true", found[False])


@pytest.mark.parametrize("name", STEPS)
def test_steps(run, name):
    step, count = STEPS[name]
    found = {True: [], False: []}
    for _ in range(ALTERNATIONS):
        for in_guest, all_of in found.items():
            few, many = (
                spent(lambda times=times, of=in_guest: run(program(step, times), in_guest=of))
                for times in (count // 4, count)
            )
            all_of.append(Spent(many.wall_s - few.wall_s, many.cpu_s - few.cpu_s, (many.piece_s + few.piece_s) / 2))
    report(f"on ram: {name}", found[True])
    report(f"without the lab: {name}", found[False])
    show(f"{name}, a million", [one.cpu_s / (count - count // 4) * 1e6 for one in found[True]])
    show(f"{name}, a million, without the lab", [one.cpu_s / (count - count // 4) * 1e6 for one in found[False]])
