"""Parameters of the guest's kernel reach it, and what it does not know ends a run before its loads start."""

import json

import pytest

from wblab.analysis.runs.digest import digest
from wblab.host.recorded import RunFailedError
from wblab.lab.formats import CONSOLE, EXPERIMENT

SHORT = ("load.l1.wait=1s", "load.l1.size=1MiB", "load.l2.wait=1s", "load.l2.size=1MiB", "trace.events=[]")


def command_line(run):
    lines = (run.path / CONSOLE).read_text().splitlines()
    return next(line for line in lines if "Kernel command line: " in line).split()


def test_a_parameter_reaches_the_kernel_and_is_recorded(shared_lab):
    without = shared_lab.run("base", *SHORT)
    run = shared_lab.run("base", *SHORT, "kernel.parameters.um_cycles=1", "kernel.parameters.initcall_debug=0")
    assert {"um_cycles=1", "initcall_debug=0"} <= {*command_line(run)}
    recorded = json.loads((run.path / EXPERIMENT).read_text())["spec"]["kernel"]["parameters"]
    assert recorded == {"um_cycles": 1, "initcall_debug": 0}
    assert digest(run) == digest(without)  # both are what the kernel does anyway


def test_without_um_cycles_the_loads_call_the_kernel_themselves(shared_lab):
    run = shared_lab.run("base", *SHORT, "kernel.parameters.um_cycles=0")
    assert "um_cycles=0" in command_line(run)
    assert run.load("w1").boundaries_ns.size > 10


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ext4", 1),  # the executable has such a text, but no parameter
        ("xfs", ""),  # the program would get it as an argument
        ("um_cycles", "maybe"),
    ],
)
def test_what_the_kernel_does_not_take_ends_the_run_before_its_loads(shared_lab, name, value):
    with pytest.raises(RunFailedError, match=rf"does not know or cannot read kernel\.parameters\.{name}: ") as raised:
        shared_lab.run("base", *SHORT, f"kernel.parameters.{name}={json.dumps(value)}")
    assert raised.value.directory
    assert not list(raised.value.directory.glob("load.*"))
