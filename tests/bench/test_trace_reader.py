"""How fast trace.dat is read: the reader, trace-cmd report, C over libtracecmd, and memcpy of the same bytes."""

import subprocess

import numpy as np
import pytest
import tracecmd
from support import oracle
from support.timing import REPEATS, seconds, show
from support.tracereduce import reduced

from wblab.core.rundir import TRACE
from wblab.host.request import ready
from wblab.host.run import run_experiment
from wblab.kernels import find_kernel
from wblab.lab.specfile import find_spec, read_spec

pytestmark = pytest.mark.bench
EVENTS = 3_000_000


def shifted(pages, ns):
    """Return pages whose times are so much later."""
    later = pages.copy()
    later[:, :8] = (pages[:, :8].copy().view("<u8") + np.uint64(ns)).view(np.uint8)
    return later.tobytes()


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    """Return a trace of over three million events: that of the base experiment, again and again."""
    kernel = find_kernel(None)
    assert kernel, "no kernel is built: run 'make kernel'"
    place = tmp_path_factory.mktemp("trace")
    recorded = run_experiment(ready(read_spec(find_spec("base")), lambda name: kernel), place).directory / TRACE
    with tracecmd.open(recorded) as opened:
        made, ts_ns = reduced(opened), opened.sequence().ts_ns
    made.compression = "none"
    (pages,) = made.buffers[""]
    once = np.frombuffer(b"".join(pages), np.uint8).reshape(-1, made.ring.page_bytes)
    span_ns = int(ts_ns[-1] - ts_ns[0]) + 1000
    made.buffers[""] = [[shifted(once, turn * span_ns) for turn in range(EVENTS // len(ts_ns) + 1)]]
    path = place / "long.dat"
    path.write_bytes(made.encode())
    return path


def read_all(path) -> int:
    """Read every field of every event, common ones included; return the number of events."""
    count = 0
    with tracecmd.open(path) as opened:
        for name in opened.names:
            events = opened.events(name)
            events.columns = (*events.columns, *(field.name for field in events.format.common))
            count += len(events.read())
    return count


def test_reading(trace, tmp_path):
    program = oracle.build(tmp_path)
    data = np.fromfile(trace, np.uint8)
    copy = np.empty_like(data)
    count = read_all(trace)
    assert count > EVENTS
    assert int(subprocess.run([program, "--time", trace], capture_output=True, text=True, check=True).stdout) == count

    def report():
        subprocess.run(["trace-cmd", "report", trace], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    tasks = {
        "the reader: all fields as columns": lambda: read_all(trace),
        "C over libtracecmd: all fields, summed": lambda: subprocess.run(
            [program, "--time", trace], check=True, capture_output=True
        ),
        "trace-cmd report > /dev/null": report,
        "memcpy of the file": lambda: np.copyto(copy, data),
    }
    times = {}
    for name, task in tasks.items():  # each several times in a row: memory that was given back is slow to come again
        task()
        times[name] = [seconds(task) for _ in range(REPEATS)]
    print(f"\n{count} events, {len(data) >> 20} MiB, {REPEATS} times: median (least to most)")
    for name, values in times.items():
        show(name, values)
        print(f"  {'':44} {count / np.median(values) / 1e6:6.2f} million events/s")
    reader, c = (float(np.median(times[name])) for name in list(times)[:2])
    print(f"  {'the reader is faster than C by':44} {c / reader:6.2f} x")
