"""The run directory: names, staging, and the files that the stages meet in."""

import json
import os
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from wblab.core import npy
from wblab.core.cycles import Stamps, ending
from wblab.core.files import replace_file
from wblab.core.loads import Load
from wblab.core.tables import to_table

FORMAT = 1
STAGED = "_"

EXPERIMENT, TRACE, CONSOLE, CONFIG = "experiment.json", "trace.dat", "console.log", "kernel.config"


@dataclass(frozen=True)
class LoadRecord:
    """What load.<name>.json says. `unit` is that of the boundaries in load.<name>.npy.

    status: of a command, its exit code, or less than 0 the signal that ended it; 0 of all others.
    """

    name: str
    kind: str
    parameters: dict[str, Any]
    pid: int
    unit: str
    cycles: int
    end: str
    error: str
    status: int = 0


def stage(results: Path, name: str) -> Path:
    """Make and return a new staged run directory, `_<date>_<name>`; a suffix keeps it from any that exists."""
    stem = f"{time.strftime('%Y-%m-%d_%H-%M-%S')}_{name}"
    results.mkdir(parents=True, exist_ok=True)
    for final in _names(stem):
        if not (results / final).exists():
            try:
                (staged := results / f"{STAGED}{final}").mkdir()
            except FileExistsError:
                continue
            return staged
    raise FileExistsError(f"no free name for {stem} in {results}")


def commit(staged: Path) -> Path:
    """Give a run that succeeded its final name, and return it."""
    stem = staged.name.removeprefix(STAGED)
    for name in _names(stem):
        final = staged.with_name(name)
        try:  # renaming onto a directory that is not empty fails: nothing is overwritten
            os.rename(staged, final)
        except OSError:
            if not final.exists():
                raise
        else:
            return final
    raise FileExistsError(f"no free name for {stem}")


def _names(stem: str) -> Iterator[str]:
    """Yield the names that a run may take, in their order: the plain one, then -2, -3 and so on."""
    yield stem
    yield from (f"{stem}-{number}" for number in range(2, 1000))


def write_json(path: Path, value: object) -> None:
    """Write a JSON file at once: a reader never sees half of it."""
    with replace_file(path) as file:
        file.write((json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode())


def write_load(directory: Path, name: str, load: Load, pid: int, stamps: Stamps) -> None:
    """Write load.<name>.npy and load.<name>.json."""
    times_ns, ended = stamps.times_ns(), ending(stamps)
    npy.write_int64(directory / f"load.{name}.npy", times_ns)
    cycles = max(0, len(times_ns) - 1)
    record = LoadRecord(name, load.kind, to_table(load), pid, "ns", cycles, ended.end, ended.error, ended.status)
    (directory / f"load.{name}.json").write_text(json.dumps(asdict(record), indent=2) + "\n")
