"""Evaluate the lab as an artifact: make what its claims need, and log what holds and what does not: `make artifact`.

    python docs/artifact.py [NAME ...]

Each step runs commands of the lab as a reader would type them, and compares what they print with what was measured
when the page docs/artifact.md was written. A step that fails does not end the others. The exit code is 1 if one failed.
"""

import json
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from wblab.claims.pages.kept import read_claims

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "artifact.md"
LOG = ROOT / "exp" / "artifact.log"
RESULTS = ROOT / "exp" / "artifact"  # run directories, removed by hand
_DECIDED = {"reproduced", "not reproduced"}
_LONGEST_S = 3600
_PRESETS = 6  # of golden's standard set
_TOLERANCE = 0.2


class FailedError(Exception):
    """A step that does not hold; the message says what was seen."""


class UndecidedError(Exception):
    """A step that this machine cannot show; the message says why, and what was seen instead."""


@dataclass(frozen=True)
class Step:
    """A claim. commands: without `wblab`; the output of the last one goes to `check`, which returns what it saw.

    expected: in words, with the tolerance. minutes, megabytes: as measured on two cores of a loaded server.
    """

    name: str
    claim: str
    commands: tuple[str, ...]
    expected: str
    minutes: float
    megabytes: int
    check: Callable[[str], str]


def _longest(loads: Sequence[str], seconds: float) -> Callable[[str], str]:
    """Return a check of the longest pause of some loads, in a report of `wblab why --pauses --json`."""

    def check(output: str) -> str:
        found = max(load["longest_pause_s"] for load in json.loads(output)["loads"] if load["name"] in loads)
        return _judged(abs(found / seconds - 1) <= _TOLERANCE, f"{found:.2f} s")

    return check


def _judged(holds: bool, seen: str) -> str:
    if not holds:
        raise FailedError(seen)
    return seen


def _says(pattern: str, times: int = 1) -> Callable[[str], str]:
    """Return a check that so many lines of the output match a pattern."""

    def check(output: str) -> str:
        found = [line for line in output.splitlines() if re.search(pattern, line)]
        return _judged(len(found) == times, f"{found[-1] if found else 'no such line'}, {len(found)} of {times}")

    return check


def _same_bytes(output: str) -> str:
    """Check that all presets are identical. With other tools that cannot be: then their figures are as recorded."""
    lines = [line for line in output.splitlines() if re.match(r"7\.2 +\S", line)]
    same = sum(line.endswith(" identical") for line in lines)
    other = [found for line in lines if (found := re.search(r"other inputs \((.*)\): .* within the intervals$", line))]
    seen = f"{same} of {_PRESETS} identical"
    if same != _PRESETS and same + len(other) == len(lines) == _PRESETS:
        raise UndecidedError(
            f"{seen}, and {len(other)} within the recorded intervals, with other inputs: {other[0][1]}"
        )
    return _judged(same == len(lines) == _PRESETS, seen)


def _all_hold(output: str) -> str:
    holds = [statement["holds"] for statement in json.loads(output)["statements"]]
    return _judged(0 < sum(holds) == len(holds), f"{sum(holds)} of {len(holds)} statements hold")


def measured_verdicts() -> dict[str, str]:
    """Return the verdict that each of the thesis's claims had when it was measured last, by the claim's name."""
    return {row.name: row.verdict for work in read_claims() if work.work == "thesis" for row in work.rows}


def _same_verdicts(output: str) -> str:
    """Compare the verdicts with those that were measured: what was decided must not be decided the other way."""
    known = measured_verdicts()
    found = {claim["name"]: claim["verdict"] for claim in json.loads(output)["claims"]}
    turned = [
        name
        for name, verdict in known.items()
        if name not in found or (verdict != found[name] and {verdict, found[name]} <= _DECIDED)
    ]
    same = sum(found.get(name) == verdict for name, verdict in known.items())
    otherwise = f"; otherwise: {', '.join(turned)}" if turned else ""
    return _judged(bool(known) and not turned, f"{same} of {len(known)} verdicts the same{otherwise}")


STEPS = (
    Step(
        "stall",
        "Programs that write little are stalled for 24 s behind one that writes fast to a slow disk",
        ("run base-device", "why --pauses latest --json"),
        "longest pause of w1 and mw1 23.7 s, ± 20 %",
        0.2,
        2,
        _longest(("w1", "mw1"), 23.7),
    ),
    Step(
        "remedy",
        "A queue of 512 KiB makes that pause of w1 thirty times as short",
        (
            "run base-device --set disk.queue.nr_requests=4 --set disk.queue.max_sectors_kb=128",
            "why --pauses latest --json",
        ),
        "longest pause of w1 0.66 s, ± 20 %",
        0.2,
        2,
        _longest(("w1",), 0.66),
    ),
    Step(
        "repeat",
        "In virtual time a run is the same to the bit, whatever else the machine does",
        ("run base-device", "repeat latest"),
        "`identical`; no tolerance",
        0.4,
        4,
        _says("^Identical"),
    ),
    Step(
        "machines",
        "It is the same on another machine too: six presets against figures recorded elsewhere",
        ("repeat golden --series 7.2",),
        "`identical` six times; with another compiler or other tools, which are named, it is `open`: figures within "
        "the recorded intervals",
        0.8,
        9,
        _same_bytes,
    ),
    Step(
        "finding",
        "Low dirty limits, beside a slow disk, stall programs on a fast disk",
        ("study low-limits-beside-a-slow-disk --json",),
        "all statements hold",
        0.9,
        5,
        _all_hold,
    ),
    Step(
        "thesis",
        "What the thesis claims, on this kernel",
        ("study thesis --json",),
        "the verdicts of docs/findings/results-of-claims.md; none turns from reproduced to not reproduced, or back",
        10,
        290,
        _same_verdicts,
    ),
    Step(
        "hand-on",
        "A run in one file is checked and repeated from that file alone",
        ("run base", "pack latest -o {results}/artifact.wblab", "repeat {results}/artifact.wblab"),
        "`identical`; no tolerance",
        0.6,
        5,
        _says("^Identical"),
    ),
)


def command(words: str, results: Path) -> list[str]:
    """Return a command line of the lab whose results go to a directory."""
    return [sys.executable, "-m", "wblab", *shlex.split(words.format(results=results)), "--exp", str(results)]


def evaluated(step: Step, results: Path) -> str:
    """Run a step and return what was seen. Raises FailedError."""
    output = ""
    for words in step.commands:
        try:
            done = subprocess.run(
                command(words, results), capture_output=True, text=True, check=False, timeout=_LONGEST_S, cwd=ROOT
            )
        except subprocess.TimeoutExpired:
            raise FailedError(f"wblab {words} took more than {_LONGEST_S // 60} minutes") from None
        output = done.stdout
        if done.returncode:
            said = (done.stderr.strip().splitlines() or ["it printed nothing"])[-1]
            raise FailedError(f"wblab {words}: exit code {done.returncode}: {said}")
    try:
        return step.check(output)
    except (ValueError, KeyError, TypeError) as error:  # not the output that was expected
        raise FailedError(f"its output is of another form ({type(error).__name__}: {error})") from None


def size_mb(folder: Path) -> float:
    """Return the size of the files in a folder, in MB."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


def logged(step: Step, results: Path, log: Path) -> str:
    """Run a step, print its line and append it to the log; return the verdict: `holds`, `open` or `FAILS`."""
    begun_s, before_mb = time.monotonic(), size_mb(results)
    try:
        verdict, seen = "holds", evaluated(step, results)
    except UndecidedError as error:
        verdict, seen = "open ", str(error)
    except FailedError as error:
        verdict, seen = "FAILS", str(error)
    took = f"{(time.monotonic() - begun_s) / 60:.1f} min, {size_mb(results) - before_mb:.0f} MB"
    line = f"{verdict}  {step.name:9} {took}: {seen}"
    print(line, flush=True)
    with log.open("a") as file:
        expected = f"    expected: {step.expected}\n    by: {'; '.join(f'wblab {words}' for words in step.commands)}\n"
        file.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')}  {line}\n{expected}")
    return verdict.strip()


def rows() -> list[str]:
    """Return the rows of the page's table."""
    return [
        f"| `{step.name}`: {step.claim} | {_commands(step)} | {step.expected} | {step.minutes:g} | {step.megabytes} |"
        for step in STEPS
    ]


def _commands(step: Step) -> str:
    return "; ".join(f"`wblab {words}`" for words in step.commands).replace("{results}/", "")


def main(wanted: Sequence[str], steps: Sequence[Step] = STEPS, results: Path = RESULTS, log: Path = LOG) -> int:
    """Run the steps with these names, or all. Return the exit code."""
    if unknown := set(wanted) - {step.name for step in steps}:
        print(f"no step {min(unknown)!r}: there are {', '.join(step.name for step in steps)}", file=sys.stderr)
        return 2
    results.mkdir(parents=True, exist_ok=True)
    (results / "artifact.wblab").unlink(missing_ok=True)  # of an earlier call: nothing is packed over it
    chosen = [step for step in steps if not wanted or step.name in wanted]
    verdicts = [logged(step, results, log) for step in chosen]
    print(f"{verdicts.count('holds')} of {len(verdicts)} hold; see {log}")
    return 1 if "FAILS" in verdicts else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
