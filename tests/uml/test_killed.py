"""Whatever is killed, and when: nothing is left behind, and the record says why the run ended."""

import json
import os
import random
import shutil
import signal
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
from support.guestlab import Lab
from support.processes import alive, descendants
from support.quickruns import SECONDS
from support.waiting import LIMIT_S

from wblab.host.process.reaper import GUARD, NAME
from wblab.lab.formats import EXPERIMENT
from wblab.lab.results import STAGED

AT_ONCE = 2
PARTIAL = f".{EXPERIMENT}.partial"  # a record that was being written


@dataclass(frozen=True)
class Kill:
    """A signal, its target, and the share of a run's length after which it is sent."""

    number: signal.Signals
    whom: str
    share: float

    def send(self, command: int) -> list[int]:
        """Send the signal, and return all processes that existed."""
        processes = descendants(command)
        found = {
            "command": [command],
            "reaper": [pid for pid, name in processes.items() if name == NAME],
            "guard": [pid for pid, name in processes.items() if name == GUARD],
            "guest": [pid for pid, name in processes.items() if name == "linux"],
        }
        if self.whom == "group":
            with suppress(ProcessLookupError):
                os.killpg(command, self.number)
        for pid in found.get(self.whom, [])[:1]:
            with suppress(ProcessLookupError):
                os.kill(pid, self.number)
        return [command, *processes]


def kills(count: int, seed: int) -> list[Kill]:
    chance = random.Random(seed)
    kinds = [(number, "command") for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)]
    kinds += [(signal.SIGINT, "group"), (signal.SIGTERM, "group")]  # as a terminal and a service manager do
    kinds += [(signal.SIGKILL, whom) for whom in ("group", "reaper", "guard", "guest")]
    return [Kill(*kinds[number % len(kinds)], chance.uniform(0, 1.05)) for number in range(count)]


@pytest.mark.timeout(1800)  # a quarter of a minute on an idle machine
def test_twenty_kills_leave_nothing_behind(kernel, tmp_path):
    assert killed(kernel, tmp_path, kills(20, seed=1)) == []


@pytest.mark.soak
@pytest.mark.timeout(7200)
def test_a_thousand_kills_leave_nothing_behind(kernel, tmp_path):
    assert killed(kernel, tmp_path, kills(1000, seed=2)) == []


def killed(kernel, tmp_path, wanted: list[Kill]) -> list[tuple[Kill, str]]:
    """Make a run for each kill, two at a time; return the problems after each kill."""
    length_s = run_s(kernel, tmp_path / "length")

    def one(number: int) -> list[tuple[Kill, str]]:
        kill = wanted[number]
        return [(kill, trouble) for trouble in troubles(kernel, tmp_path / str(number), kill, length_s)]

    with ThreadPoolExecutor(AT_ONCE) as pool:
        return [trouble for several in pool.map(one, range(len(wanted))) for trouble in several]


def run_s(kernel, place: Path) -> float:
    """Return the duration of an undisturbed run, in s of the host."""
    lab = Lab(kernel, place, Path("/dev/shm"))
    started = time.monotonic()
    process = lab.start(*settings())
    process.communicate()
    assert process.returncode == 0
    return time.monotonic() - started


def settings() -> list[str]:
    return [f"--set={setting}" for setting in SECONDS]


def troubles(kernel, place: Path, kill: Kill, length_s: float) -> list[str]:
    """Run, kill, and return the problems."""
    lab = Lab(kernel, place, Path(tempfile.mkdtemp(prefix="wblab-test-", dir="/dev/shm")))
    process = lab.start(*settings())
    time.sleep(kill.share * length_s)
    there = kill.send(process.pid)
    _, said = process.communicate(timeout=LIMIT_S)
    found = [f"still there: {left}" for left in awaited(lambda: [*lab.left_behind(), *filter(alive, there)])]
    mounts = Path("/proc/self/mounts").read_text()
    found += [f"mounted: {where}" for where in (lab.shm, place) if str(where) in mounts]
    if "Traceback" in said and place.exists():
        found.append(f"said: {said}")
    found += [trouble for run in lab.results.glob("*") for trouble in run_troubles(run, kill, process.returncode)]
    shutil.rmtree(lab.shm)
    shutil.rmtree(place, ignore_errors=True)
    return found


def run_troubles(run: Path, kill: Kill, code: int) -> list[str]:
    """Return the problems of a run directory that a kill left."""
    if not {item.name for item in run.iterdir()} - {PARTIAL}:
        return []  # killed between two system calls: nothing was begun
    record = json.loads((run / EXPERIMENT).read_text())
    if record["outcome"] == "succeeded":
        return []
    found = [] if run.name.startswith(STAGED) else ["a run that failed has a finished one's name"]
    if kill.number is not signal.SIGKILL:
        words, expected = ("interrupted",), 128 + kill.number
    elif kill.whom in ("command", "group"):
        words, expected = ("killed",), -signal.SIGKILL
    else:
        words, expected = ("the guest ended with",), 1
    if not any(word in record["reason"] for word in words):
        found.append(f"{record['outcome']}, for this reason: {record['reason']}")
    if code != expected:
        found.append(f"exit code {code}")
    return found


def awaited(left: Callable[[], list]) -> list:
    """Wait until nothing is left; return what is still left after a while."""
    deadline_s = time.monotonic() + LIMIT_S
    while (found := left()) and time.monotonic() < deadline_s:
        time.sleep(0.01)
    return found
