"""What a copy of a guest takes beside a whole run, and trials and proofs that are made of copies.

No processor time of a copy can be told apart from its guest's before that has ended: so what three copies take is what
a guest takes that is copied three times, less what it takes uncopied.
"""

import json
import shutil
import statistics
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from support.benchlog import report
from support.timing import Spent, spent

from wblab.analysis.runs.run import read_run
from wblab.core.units import NS_PER_S
from wblab.host.copies import copies
from wblab.host.request import make_run, ready
from wblab.lab.places import ROOT
from wblab.lab.results import SPECS
from wblab.lab.specfile import read_spec
from wblab.study.designs.prove.trial import loads_start_ns

pytestmark = pytest.mark.bench
TIMES, COPIES = 10, 3
BEFORE_NS = 600_000_000  # as trials have it: all sleep then


@pytest.fixture
def request_of_base(kernel):
    return ready(read_spec(SPECS.find("base")), lambda _: kernel)


def each(more: Spent, less: Spent) -> Spent:
    return replace(more, wall_s=(more.wall_s - less.wall_s) / COPIES, cpu_s=(more.cpu_s - less.cpu_s) / COPIES)


@pytest.mark.parametrize("second", [0, 5, 10])
def test_copies(tmp_path, request_of_base, second):
    whole = make_run(request_of_base, tmp_path).directory
    moment_ns = loads_start_ns(read_run(whole)) + (second * NS_PER_S if second else -BEFORE_NS)

    def copied(count: int, *, is_brief: bool = False) -> None:
        room = tmp_path / "room"
        room.mkdir()
        with copies(request_of_base, moment_ns, room) as at:
            for _ in range(count):
                at.run(request_of_base, room, is_brief=is_brief)
        shutil.rmtree(room)

    found: dict[str, list[Spent]] = {"a whole run": [], "up to there": [], "a copy": [], "a copy's times": []}
    for _ in range(TIMES):
        uncopied = spent(lambda: copied(0))
        found["a whole run"].append(spent(lambda: shutil.rmtree(make_run(request_of_base, tmp_path).directory)))
        found["up to there"].append(uncopied)
        found["a copy"].append(each(spent(lambda: copied(COPIES)), uncopied))
        found["a copy's times"].append(each(spent(lambda: copied(COPIES, is_brief=True)), uncopied))
    for name, taken in found.items():
        report(f"base, second {second}: {name}", taken)
        shares = [one.cpu_s / run.cpu_s for one, run in zip(taken, found["a whole run"], strict=True)]
        print(f"   of a whole run {statistics.median(shares):.0%} ({min(shares):.0%} to {max(shares):.0%})")


@pytest.mark.parametrize("option", ["--no-try", "--try-for=300s", "--prove"])
def test_why(tmp_path, on_kernel, option):
    wblab = [sys.executable, "-m", "wblab"]
    made = subprocess.run(
        [*wblab, "run", "base-device", *on_kernel, "--json", "--exp", str(tmp_path)],
        cwd=ROOT, check=True, capture_output=True,
    )  # fmt: skip
    run = Path(json.loads(made.stdout)["directory"])

    def ask() -> None:
        with suppress(FileNotFoundError):
            shutil.rmtree(run / "proof")
        subprocess.run([*wblab, "why", str(run), option], cwd=ROOT, check=True, capture_output=True)

    ask()
    report(f"why {option} of base-device", [spent(ask) for _ in range(TIMES)])
    print(f"  of {len([*run.glob('proof/tried/*.json'), *run.glob('proof/*/*/experiment.json')])} runs")
