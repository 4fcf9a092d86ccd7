"""A guest of User Mode Linux with several processors, each a thread of the host."""

from dataclasses import replace

import pytest

from wblab.cli import main
from wblab.kernels import built_kernel, find_kernel
from wblab.lab.formats import CONSOLE

NAME = "7.2+smp"
COUNT = (
    "trace.events=[]",
    "load={c1={kind='control', idle='50ms'}}",
    "load.go={kind='command', wait='1s', argv=['sh', '-c', 'nproc; grep -c ^processor /proc/cpuinfo']}",
)

pytestmark = pytest.mark.skipif(
    find_kernel(NAME) is None, reason=f"the kernel {NAME} is not built: wblab kernel build {NAME}"
)


def test_a_guest_has_two_processors_and_leaves_nothing(lab):
    run = replace(lab, kernel=built_kernel(f"{NAME}@2")).run("base", "clock.mode=real", *COUNT)
    assert "2\n2\n" in (run.path / CONSOLE).read_text()
    assert run.record["kernel"]["processors"] == 2
    assert lab.left_behind() == []


def test_it_has_no_virtual_time(lab, capsys):
    assert main(["run", "base", "--kernel", f"{NAME}@2", "--exp", str(lab.results)]) == 2
    said = f"wblab: the kernel {NAME}@2 has no virtual time: run it with --set clock.mode=real\n"
    assert capsys.readouterr().err == said
