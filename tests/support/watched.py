"""Watch a verb that makes many runs: runs per hour, and whether its workers ever idle."""

import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from wblab.host.process.usage import descendants
from wblab.lab.places import ROOT

LOOK_S = 0.1
LOOKS = 3


@dataclass
class Seen:
    """Observations of the verb.

    start_s: from the command's start to the first run's. looks: times, each with the number of finished runs. ready:
    number of threads with work, at most one for each worker, since a run has one active thread.
    """

    start_s: float = 0.0
    end_s: float = 0.0
    looks: list[tuple[float, int]] = field(default_factory=list)
    ready: list[int] = field(default_factory=list)


def with_work(pid: int) -> int:
    """Return how many threads of a process and its descendants are running or runnable (proc(5))."""
    found = 0
    for process in descendants(pid):
        with suppress(OSError):  # it has ended
            for task in Path("/proc", str(process), "task").iterdir():
                found += (task / "stat").read_text().rpartition(")")[2].split()[0] == "R"
    return found


def count(results: Path, pattern: str) -> int:
    """Return how many paths match; count again if one was renamed meanwhile."""
    while True:
        with suppress(FileNotFoundError):
            return len(list(results.glob(pattern)))


def watch(arguments: Sequence[str], workers: int, results: Path) -> Seen:
    """Run a verb with this many workers and this directory of results."""
    command = [sys.executable, "-m", "wblab", *arguments, "--exp", str(results), "--jobs", str(workers)]
    seen, begun_s = Seen(), time.monotonic()
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL) as process:
        while process.poll() is None:
            now_s = time.monotonic()
            if not seen.start_s and count(results, "*/.work-*/*/console.log"):
                seen.start_s = now_s - begun_s
            if seen.start_s:
                seen.looks.append((now_s, count(results, "*/runs/[!_.]*")))
                # During a sample a guest may switch from one of its processes to another, and look asleep in both.
                seen.ready.append(min(workers, max(with_work(process.pid) for _ in range(LOOKS))))
            time.sleep(LOOK_S if seen.start_s else LOOK_S / 10)
    seen.end_s = time.monotonic() - begun_s
    assert process.returncode == 0
    return seen


def rate_per_hour(seen: Seen) -> float:
    """Return the runs per hour, from the first one's start to the last one's end."""
    total = seen.looks[-1][1]
    ended_s = next(now_s for now_s, done in seen.looks if done == total)
    return total / (ended_s - seen.looks[0][0]) * 3600


def idle_share(seen: Seen, workers: int) -> float:
    """Return the share of the workers' time without work, while there were runs for all."""
    total = seen.looks[-1][1]
    busy = [ready for (_, done), ready in zip(seen.looks, seen.ready, strict=True) if done <= total - workers]
    return 1 - statistics.mean(busy) / workers
