"""How fast trace.dat is read: the reader, trace-cmd report, C over libtracecmd, and memcpy of the same bytes."""

import os
import random
import struct
import subprocess

import numpy as np
import pytest
import tracecmd
from support import oracle
from support.timing import REPEATS, show
from support.tracereduce import reduced
from support.tracewriter import Ring, TraceWriter, event_format

from wblab.core.rundir import TRACE
from wblab.host.request import ready
from wblab.host.run import run_experiment
from wblab.kernels import find_kernel
from wblab.lab.results import SPECS
from wblab.lab.specfile import read_spec

pytestmark = pytest.mark.bench
EVENTS = 3_000_000
# Of the trace with many types: it is made of so many pages, of at least so many events each, again and again.
TYPES, FIRST, TASKS, PAGES, EVENTS_A_PAGE = 217, 301, 300, 500, 110


def shifted(pages, ns):
    """Return pages whose times are so much later."""
    later = pages.copy()
    later[:, :8] = (pages[:, :8].copy().view("<u8") + np.uint64(ns)).view(np.uint8)
    return later.tobytes()


@pytest.fixture(scope="module")
def few_types(tmp_path_factory):
    """Return a trace of over three million events: that of the base experiment, again and again."""
    kernel = find_kernel(None)
    assert kernel, "no kernel is built: run 'make kernel'"
    place = tmp_path_factory.mktemp("trace")
    recorded = run_experiment(ready(read_spec(SPECS.find("base")), lambda name: kernel), place).directory / TRACE
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


@pytest.fixture(scope="module")
def many_types(tmp_path_factory):
    """Return a trace as of a live host: many small types of events, some with a text, on two CPUs, of many tasks.

    As on such hosts a few types make up most events, and a task has several events in a row.
    """
    chance = random.Random(TYPES)
    ring = Ring()
    fields = "u64 a 8 8 0\nint b 16 4 1\nunsigned short c 20 2 0\nchar d 22 1 1"
    formats = [
        event_format(f"event_{i}", FIRST + i, fields + "\nchar name[16] 24 16 0" * (i % 4 == 0)) for i in range(TYPES)
    ]
    weights = [1 / (1 + i) for i in range(TYPES)]
    pids = [chance.randrange(1, 1 << 18) for _ in range(TASKS)]
    pages = []
    for page in range(PAGES):
        pid, size, entries = chance.choice(pids), 0, []
        for number in chance.choices(range(TYPES), weights, k=ring.page_bytes // 28):
            pid = chance.choice(pids) if chance.random() < 1 / 8 else pid
            body = struct.pack("<QiHb", chance.getrandbits(48), chance.getrandbits(30), page, 7)
            text = b"\0" + f"task/{pid % 20}".encode().ljust(16, b"\0") if number % 4 == 0 else b""
            entry = ring.data(chance.randrange(1, 5000), ring.record(FIRST + number, pid, body + text))
            if (size := size + len(entry)) > ring.page_bytes - ring.data_at:
                break
            entries.append(entry)
        pages.append(ring.page(page * 1_000_000, entries))
    once = np.frombuffer(b"".join(pages), np.uint8).reshape(-1, ring.page_bytes)
    turns = EVENTS // (2 * EVENTS_A_PAGE * PAGES) + 1
    cpu = [shifted(once, turn * PAGES * 1_000_000) for turn in range(turns)]
    cmdlines = "".join(f"{pid} task{pid}\n" for pid in pids)
    made = TraceWriter(ring, 7, "none", {"bench": formats}, cmdlines, buffers={"": [cpu, cpu]})
    path = tmp_path_factory.mktemp("many") / "many.dat"
    path.write_bytes(made.encode())
    return path


def cpu_seconds(task) -> float:
    """Return how long processors worked for a task, in this process and in those it ran, which it waited for."""
    before = os.times()
    task()
    return sum(os.times()[:4]) - sum(before[:4])


def read_all(path) -> int:
    """Read every field of every event, common ones included; return the number of events."""
    count = 0
    with tracecmd.open(path) as opened:
        for name in opened.names:
            events = opened.events(name)
            events.columns = (*events.columns, *(field.name for field in events.format.common))
            count += len(events.read())
    return count


@pytest.mark.parametrize("kind", ["few_types", "many_types"])
def test_reading(kind, request, tmp_path):
    trace = request.getfixturevalue(kind)
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
    times = {name: [] for name in tasks}
    for turn in range(1 + REPEATS):  # in turns: what else the machine does meets all alike
        for name, task in tasks.items():
            times[name] += [cpu_seconds(task)][:turn]
    print(f"\n{kind}: {count} events, {len(data) >> 20} MiB, {REPEATS} times: CPU time, median (least to most)")
    for name, values in times.items():
        show(name, values)
        print(f"  {'':44} {count / np.median(values) / 1e6:6.2f} million events/s")
    reader, c = list(times.values())[:2]
    ratios = np.divide(c, reader)
    title = "the reader is faster than C by"
    print(f"  {title:44} {np.median(ratios):6.2f} x  ({ratios.min():.2f} to {ratios.max():.2f})")
