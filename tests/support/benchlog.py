"""The figures of `make bench`, each beside earlier ones: bench.jsonl in the directory of results.

Figures are compared by their ratio, so a busy or a different machine does not count as a regression.
"""

import json
import statistics
import subprocess
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from support.timing import Spent
from wblab.host.machine import describe_host
from wblab.lab.formats import now
from wblab.lab.places import RESULTS, ROOT

LOG = RESULTS / "bench.jsonl"
# Two measurements of the same code differ by this factor even if their repeats agree.
_LEAST_SPREAD = 0.05


@dataclass(frozen=True)
class Entry:
    """One figure, a line of the log.

    commit: with "-dirty" if files differ from it. seconds: wall clock; cpu_s: processor time; both medians. ratio:
    median of cpu_s in units of the reference work, with its minimum and maximum over the repeats.
    """

    date: str
    commit: str
    machine: str
    cores: int
    host_kernel: str
    python: str
    figure: str
    seconds: float
    cpu_s: float
    ratio: float
    least: float
    most: float
    repeats: int

    def like(self, other: "Entry") -> bool:
        """Whether another entry is of the same figure and machine."""
        return (self.figure, self.machine, self.cores) == (other.figure, other.machine, other.cores)

    def worse_than(self, other: "Entry") -> bool:
        """Whether this took longer by more than its own spread, and by more than the same code varies by chance."""
        return self.ratio - other.ratio > max(self.most - self.least, _LEAST_SPREAD * other.ratio)


def entry(figure: str, taken: Sequence[Spent]) -> Entry:
    """Return the entry of a figure from its repeats, at this time, machine and commit."""
    host = describe_host()
    ratios = [item.ratio for item in taken]
    return Entry(
        date=now(),
        commit=_commit(),
        machine=str(host["cpu"]),
        cores=int(str(host["cores"])),
        host_kernel=str(host["uname"]),
        python=str(host["python"]),
        figure=figure,
        seconds=_rounded(statistics.median(item.wall_s for item in taken)),
        cpu_s=_rounded(statistics.median(item.cpu_s for item in taken)),
        ratio=_rounded(statistics.median(ratios)),
        least=_rounded(min(ratios)),
        most=_rounded(max(ratios)),
        repeats=len(taken),
    )


def read_log(path: Path) -> list[Entry]:
    """Return the entries of a log, oldest first; none if there is no log. Raises ValueError."""
    lines = path.read_text().splitlines() if path.exists() else []
    found = []
    for number, line in enumerate(lines, 1):
        try:
            found.append(Entry(**json.loads(line)))
        except (ValueError, TypeError):
            raise ValueError(f"line {number} of {path} is no figure of 'make bench': remove it") from None
    return found


def words(new: Entry, before: Sequence[Entry]) -> str:
    """Describe a figure in a line, with the last and the best one of the same machine, and whether it is worse."""
    text = (
        f"  {new.figure:40} {new.ratio:7.2f} x ({new.least:.2f} to {new.most:.2f})"
        f" {new.cpu_s:7.3f} s of processors {new.seconds:7.3f} s"
    )
    others = [item for item in before if new.like(item)]
    if not others:
        return f"{text}   the first here"
    compared = {"last": others[-1], "best": min(others, key=lambda item: item.ratio)}
    text += "   " + ", ".join(f"{name} {item.ratio:.2f}" for name, item in compared.items())
    worse = [name for name, item in compared.items() if new.worse_than(item)]
    return f"{text}   WORSE than the {' and the '.join(worse)}" if worse else text


def report(figure: str, taken: Sequence[Spent], log: Path = LOG) -> None:
    """Print a figure beside earlier ones, and append it to the log."""
    new = entry(figure, taken)
    print(f"\n{words(new, read_log(log))}", end="", flush=True)
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("a") as file:
        file.write(json.dumps(asdict(new)) + "\n")


def _rounded(value: float) -> float:
    return round(value, 4)


def _commit() -> str:
    """Return the commit of this checkout, "" if there is none."""
    command = ["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
