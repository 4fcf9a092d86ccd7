"""The run directory as the guest leaves it: what its files are called, and what a load measured."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from wblab.core import npy
from wblab.core.cycles import Stamps, ending
from wblab.core.fiemap import Extent
from wblab.core.loads import Load
from wblab.core.tables import to_table

TRACE, TRACE_LOG, DISKS, EXTENTS = "trace.dat", "trace-cmd.log", "disks.json", "extents.json"


def load_record(load: str) -> str:
    """Return the name of the file that says how a load ended: a LoadRecord."""
    return f"load.{load}.json"


def load_times(load: str) -> str:
    """Return the name of the file with the boundaries of a load's cycles: a row of int64, in NumPy's format."""
    return f"load.{load}.npy"


def agent_log(agent: str) -> str:
    """Return the name of the file with what an agent printed."""
    return f"agent.{agent}.log"


@dataclass(frozen=True)
class DiskRecord:
    """What disks.json says of each disk, by its name.

    device: its number, as the kernel has it in events and files: major:minor. written_ns: the time of CLOCK_MONOTONIC
    at which the disk had everything, once the loads had ended; 0 where nobody waited for that.
    """

    device: str
    written_ns: int


@dataclass(frozen=True)
class FileRecord:
    """What extents.json says of each file, by its load and its name: where it lies on its disk, once all was written.

    size: in bytes, up to its end, with its holes. block: of its filesystem. extents: in the order of the file.
    """

    size: int
    block: int
    extents: tuple[Extent, ...]


@dataclass(frozen=True)
class LoadRecord:
    """What load.<name>.json says. `unit` is that of the boundaries in load.<name>.npy.

    status: of a command, its exit code, or less than 0 the signal that ended it; 0 of all others. dropped: in how many
    cycles it dropped its work, as it had no room for it.
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
    dropped: int = 0


def write_disks(directory: Path, disks: dict[str, DiskRecord]) -> None:
    """Write disks.json."""
    text = json.dumps({name: asdict(disk) for name, disk in disks.items()}, indent=2)
    (directory / DISKS).write_text(text + "\n")


def write_extents(directory: Path, files: dict[str, dict[str, FileRecord]]) -> None:
    """Write extents.json."""
    (directory / EXTENTS).write_text(json.dumps({name: to_table(found) for name, found in files.items()}) + "\n")


def write_load(directory: Path, name: str, load: Load, pid: int, stamps: Stamps) -> None:
    """Write load.<name>.npy and load.<name>.json."""
    times_ns, ended = stamps.times_ns(), ending(stamps)
    npy.write_int64(directory / load_times(name), times_ns)
    cycles = max(0, len(times_ns) - 1)
    record = LoadRecord(
        name, load.kind, to_table(load), pid, "ns", cycles, ended.end, ended.error, ended.status, ended.dropped
    )
    (directory / load_record(name)).write_text(json.dumps(asdict(record), indent=2) + "\n")
