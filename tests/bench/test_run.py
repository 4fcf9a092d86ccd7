"""How long the base experiment takes, from the command's start to its end, and where the time goes."""

import statistics
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.timing import REPEATS, seconds, show

from wblab.core.status import Message
from wblab.host import run as host_run
from wblab.host.request import ready
from wblab.kernels import find_kernel
from wblab.lab.places import ROOT
from wblab.lab.specfile import find_spec, read_spec

pytestmark = pytest.mark.bench


def test_whole_command(tmp_path):
    command = [sys.executable, str(ROOT / "experiment.py"), "--exp", str(tmp_path)]
    empty = [seconds(lambda: subprocess.run([sys.executable, "-c", "pass"], check=True)) for _ in range(REPEATS)]
    whole = [seconds(lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL)) for _ in range(REPEATS)]
    print(f"\n./experiment.py, {REPEATS} runs: median (least to most)")
    show("the command, start to exit", whole)
    print(f"  {'as a multiple of an empty Python':44} {statistics.median(whole) / statistics.median(empty):6.0f} x")


def test_where_the_time_goes(tmp_path, monkeypatch):
    kernel = find_kernel(None)
    assert kernel, "no kernel is built: run 'make kernel'"
    spec = read_spec(find_spec("base"))
    steps: dict[str, list[float]] = {}
    for _ in range(REPEATS):
        for name, value in one_run(spec, kernel, tmp_path, monkeypatch).items():
            steps.setdefault(name, []).append(value)
    whole_s = sum(statistics.median(values) for values in steps.values())
    print("\nwhere the time goes")
    for name, values in steps.items():
        show(name, values, whole_s)


def one_run(spec, kernel, results: Path, monkeypatch) -> dict[str, float]:
    """Return the seconds of host time between the words that the guest sends."""
    times = {"start": time.perf_counter()}

    def progress(spec, report):
        times["boot"] = time.perf_counter()

        def heard(message: Message) -> None:
            times.setdefault(message.phase, time.perf_counter())

        return heard

    monkeypatch.setattr(host_run, "_progress", progress)
    host_run.run_experiment(ready(spec, lambda name: kernel), results)
    times["end"] = time.perf_counter()
    spans = {
        "the disk: fill and mkfs": ("start", "boot"),
        "the kernel's boot and Python's start": ("boot", "mounts"),
        "settings and mount": ("mounts", "trace"),
        "trace-cmd's start": ("trace", "loads"),
        "the loads": ("loads", "stop"),
        "trace-cmd's end": ("stop", "write"),
        "results, unmount, power off, clean up": ("write", "end"),
    }
    return {name: times[last] - times[first] for name, (first, last) in spans.items()}
