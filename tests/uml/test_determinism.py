"""In virtual time the same spec, seed and kernel build give the same bytes; the seed alone changes them."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256

from wblab.core.rundir import TRACE
from wblab.data.run import Run
from wblab.host.disk import tool_path

RUNS = 10


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
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range((os.cpu_count() or 1) + 1)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def test_ten_runs_give_the_same_bytes_also_beside_busy_loops(shared_lab):
    digests = {digest(shared_lab.run("base")) for _ in range(RUNS // 2)}
    with busy_loops():
        digests |= {digest(shared_lab.run("base")) for _ in range(RUNS // 2)}
    assert len(digests) == 1


def test_the_seed_alone_changes_a_run(shared_lab):
    first, again, other = (digest(shared_lab.run("base", f"seed={seed}")) for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_neither_name_nor_place_changes_a_run(shared_lab, lab):
    assert digest(shared_lab.run("base")) == digest(lab.run("base", "name=a-longer-name.than-before"))
