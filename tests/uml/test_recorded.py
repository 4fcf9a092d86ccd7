"""What the recorder keeps on a stock kernel, with busybox alone, explains what a program measures of its own stalls."""

import json

import pytest
from support.busyboxmachine import missing, record
from support.lottery import some

from wblab.cli import main
from wblab.kernels.stock.stockkernel import find

NAME = "stock:7.2"
WITHIN = 0.02  # of what the program measured itself
# What the answer must name, and what explains the longest stall.
TRUTH = {
    "commit": ("dd had filled the queue of the disk slow", {"folio under writeback", "commit"}),
    "own": ("near the disk's own limit of", {"throttled"}),
    "group": ("near its limit of 7.", {"throttled"}),
}

pytestmark = [
    pytest.mark.skipif(bool(missing()), reason=f"a machine with busybox alone needs {missing()}"),
    pytest.mark.skipif(find(NAME) is None, reason=f"the kernel {NAME} is not here: wblab kernel build --stock 7.2"),
]


@pytest.mark.parametrize("scenario", some(TRUTH, 1))
def test_a_stall_that_a_program_measures_itself_is_explained(scenario, tmp_path, capsys):
    kernel = find(NAME)
    assert kernel
    kept, own = record(kernel.path, kernel.modules, scenario, tmp_path)
    assert (tmp_path / "kept" / "left.txt").read_text().split() == [".", ".."]
    assert main(["why", str(kept), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    words, parts = TRUTH[scenario]
    assert words in said["headline"]
    pauses = [pause for pause in said["pauses"] if pause["load"] == "stalling"]
    longest = max(pauses, key=lambda pause: pause["pause_ns"])
    _, start, end = own.splitlines()[0].split()  # the recorder ends after the first
    measured_ns = int(end) - int(start)
    assert abs(longest["pause_ns"] - measured_ns) < WITHIN * measured_ns
    explained_ns = sum(time_ns for kind, time_ns in longest["parts"].items() if kind in parts)
    assert explained_ns > (1 - WITHIN) * measured_ns
