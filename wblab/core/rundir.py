"""The guest's files of a run directory: their names, and the records in them."""

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

# Of each request that a disk's server answered, in served.<disk>.npy: its number, opcode and node, as the kernel has
# them (include/uapi/linux/fuse.h), the pid that asked, 0 for the kernel's writeback, the place in the file and how many
# bytes were moved, when the server read it and when it answered (CLOCK_MONOTONIC), and how long it was gone in between.
SERVED_COLUMNS = ("unique", "opcode", "node", "pid", "offset", "size", "read_ns", "answered_ns", "gone_ns")


def load_record(load: str) -> str:
    """Return the name of the file with a load's LoadRecord."""
    return f"load.{load}.json"


def load_times(load: str) -> str:
    """Return the name of the file with the boundaries of a load's cycles: int64, in NumPy's format."""
    return f"load.{load}.npy"


def served_requests(disk: str) -> str:
    """Return the name of the file with the requests that a disk's server answered: int64, in NumPy's format."""
    return f"served.{disk}.npy"


def server_name(disk: str) -> str:
    """Return what the kernel calls the process that serves a disk: at most 15 bytes."""
    return f"{disk[:8]}-server"


def agent_log(agent: str) -> str:
    """Return the name of the file with an agent's output."""
    return f"agent.{agent}.log"


@dataclass(frozen=True)
class DiskRecord:
    """A disk in disks.json, where it stands under its name.

    device: its number, major:minor, as in the kernel's events and files. written_ns: the CLOCK_MONOTONIC time at which
    writeback of all data finished after the loads' end; 0 if the guest did not wait for it.
    """

    device: str
    written_ns: int


@dataclass(frozen=True)
class FileRecord:
    """A file in extents.json, where it stands under its load and its name: its place on the disk at the end.

    size: in bytes, with its holes. block: the filesystem's block size in bytes. extents: in the order of the file.
    """

    size: int
    block: int
    extents: tuple[Extent, ...]


@dataclass(frozen=True)
class LoadRecord:
    """The content of load.<name>.json. unit: of the boundaries in load.<name>.npy.

    status: a command's exit code, or the negative number of the signal that ended it; 0 for other loads.
    dropped: the number of cycles that dropped their work for lack of room.
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
