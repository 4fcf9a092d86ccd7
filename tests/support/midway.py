"""Kill a verb midway, with all that a test put in place of parts of it."""

import os
import signal
from collections.abc import Callable
from pathlib import Path

from support.waiting import wait_until
from wblab.cli import main
from wblab.lab.formats import EXPERIMENT, ROWS, RUNS


def made(study: Path) -> dict[str, int]:
    """Return the runs of a study that are complete, with the times at which their records were written."""
    return {path.parent.name: path.stat().st_mtime_ns for path in (study / RUNS).glob(f"[!_.]*/{EXPERIMENT}")}


def rows(study: Path) -> int:
    """Return how many runs of a study wait in its journal."""
    try:
        return (study / ROWS / "journal.jsonl").read_bytes().count(b"\n")
    except FileNotFoundError:
        return 0


def killed(arguments: list[str], results: Path, runs: int, left_behind: Callable[[], list[str]]) -> Path:
    """Run a verb in a process group of its own until a study in `results` has so many runs; kill it, return that."""
    child = os.fork()
    if not child:
        os.setsid()
        for descriptor in (1, 2):
            os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)
        os._exit(main(arguments))
    try:
        wait_until(lambda: any(len(made(study)) + rows(study) >= runs for study in results.glob("*")))
    finally:
        os.killpg(child, signal.SIGKILL)
        os.waitpid(child, 0)
    wait_until(lambda: left_behind() == [])
    (study,) = results.iterdir()
    return study
