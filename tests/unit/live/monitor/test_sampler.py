"""The sampler on this machine."""

import os
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from wblab.host.command import interpreter
from wblab.lab.places import ROOT
from wblab.live.monitor.audience import command
from wblab.live.monitor.sampler import SamplerRequest
from wblab.live.monitor.samples import Batch, End, SampleSource, parse

# The permitted calls while batches are sent: none allocates memory or opens a file for writing.
QUIET = {
    "clock_nanosleep",
    "close",
    "fstat",
    "getdents64",
    "ioctl",
    "lseek",
    "newfstatat",
    "openat",
    "pread64",
    "read",
    "readlink",
    "restart_syscall",  # strace interrupts a sleep as it attaches
}


def start(marked, *, python=sys.executable, **options):
    request = SamplerRequest("a test", probe=str(marked.directory), **options)
    return subprocess.Popen(
        command(request, python),
        stdout=subprocess.PIPE,
        env=marked.environment | {"PYTHONPATH": str(ROOT)},
        start_new_session=True,
    )


def items(process, batches):
    """Return the items of so many batches."""
    found = []
    while sum(isinstance(item, Batch) for item in found) < batches:
        found.append(parse(process.stdout.readline()))
    return found


def test_samples_come_in_small_batches_and_tracing_is_turned_off_again(marked, may_trace):
    process = start(marked)
    source, *batches = items(process, 12)
    assert isinstance(source, SampleSource)
    assert source.untraced == ""
    times = [batch.now_ns for batch in batches]
    assert times == sorted(times)
    states = [state for batch in batches for state in batch.states]
    assert any(state.limit for state in states)
    assert all(state.background < state.threshold for state in states)
    assert all(source.zero_ns - 10**9 < state.at_ns < times[-1] + 10**9 for state in states)
    process.terminate()
    assert parse(process.stdout.read().splitlines()[-1]) == End("the sampler was stopped")
    assert process.wait() == 0
    marked.await_nothing()


def test_the_probe_appears_in_the_samples(marked):
    process = start(marked)
    found = []
    while len(found) < 3:
        found += [wait for wait in items(process, 1)[-1].waits if wait.over]
    assert {wait.name for wait in found} == {"probe"}
    assert all(wait.start_ns < wait.at_ns for wait in found)
    assert [wait.start_ns for wait in found] == sorted({wait.start_ns for wait in found})
    (own,) = marked.directory.iterdir()
    assert 0 < len(list(own.iterdir())) <= 32
    process.terminate()
    process.communicate()
    marked.await_nothing()


def test_the_sampler_writes_no_files(marked, may_trace, tmp_path):
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed")
    if os.geteuid():
        pytest.skip("an ordinary user may not lock that much memory")
    process = start(marked)
    items(process, 15)
    (sampler,) = (pid for pid, name in marked.processes().items() if name == "wblab-sampler")
    locked = [Path(f"/proc/{pid}/status").read_text() for pid, name in marked.processes().items() if "undo" not in name]
    log = tmp_path / "strace.log"
    tracer = subprocess.Popen(["strace", "-q", "-o", str(log), "-p", str(sampler)], stderr=subprocess.DEVNULL)
    # A busy machine may take long to attach, and what the pipe holds was written before: so what is traced is counted.
    while not (log.exists() and log.read_text().count("write(1, ") >= 25):  # more than one sample of all processes
        assert tracer.poll() is None, "strace ended by itself"
        items(process, 1)
    tracer.terminate()
    tracer.wait()
    process.terminate()
    process.communicate()
    calls = [line for line in log.read_text().splitlines() if re.match(r"\w+\(", line)]
    others = [line for line in calls if not line.startswith("write(1, ")]
    assert {line.partition("(")[0] for line in others} <= QUIET
    assert [line for line in others if re.search(r"O_(WRONLY|RDWR|CREAT|TRUNC|APPEND)", line)] == []
    assert [line for line in others if line.startswith("openat") and not re.search(r'"/(proc|sys)[/"]', line)] == []
    assert len(locked) == 2  # the sampler and its probe
    for status in locked:
        resident, kept = (int(re.search(rf"{key}:\s+(\d+) kB", status)[1]) for key in ("VmRSS", "VmLck"))
        assert kept > 0.9 * resident
    marked.await_nothing()


def test_the_sampler_ends_when_its_reader_closes(marked):
    process = start(marked)
    items(process, 2)
    process.stdout.close()
    process.wait()
    marked.await_nothing()


@pytest.mark.parametrize("seed", range(6))
def test_a_kill_at_any_moment_leaves_nothing(marked, may_trace, seed):
    chance = random.Random(seed)
    process = start(marked)
    reader = threading.Thread(target=process.stdout.read)
    reader.start()
    time.sleep(chance.uniform(0, 1.0))
    (os.kill if seed % 2 else os.killpg)(process.pid, signal.SIGKILL)
    process.wait()
    reader.join()
    marked.await_nothing()


def test_without_permission_to_trace_proc_is_used(marked, readable_lab):
    if os.geteuid():
        process = start(marked)
    else:
        nobody = 65534
        process = subprocess.Popen(
            command(SamplerRequest("a test"), interpreter()),
            cwd="/",
            stdout=subprocess.PIPE,
            env=marked.environment | {"PYTHONPATH": str(readable_lab)},
            user=nobody,
            group=nobody,
        )
    source, *batches = items(process, 3)
    assert source.untraced.endswith("only root may trace")
    assert all(len(batch.states) == 1 and batch.states[0].limit is None for batch in batches)
    process.terminate()
    assert parse(process.stdout.read().splitlines()[-1]) == End("the sampler was stopped")
    marked.await_nothing()
