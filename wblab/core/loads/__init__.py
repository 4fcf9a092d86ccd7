"""The kinds of load, one class each. A new kind is listed in KINDS."""

from wblab.core.loads.base import MAX_CYCLES, Cycle, IoClass, Load, Role
from wblab.core.loads.chunks import Chunks
from wblab.core.loads.command import Command, CommandFailed, Repeat
from wblab.core.loads.control import Control
from wblab.core.loads.durable import Commit, SyncFilesystem, SyncWrite
from wblab.core.loads.loop import Loop
from wblab.core.loads.mapped import Mapped
from wblab.core.loads.memory import Memory
from wblab.core.loads.offender import Offender
from wblab.core.loads.raw import Raw, RawOffender
from wblab.core.loads.reading import Read
from wblab.core.loads.serve import Serve
from wblab.core.loads.writes import MultiWrite, Write

__all__ = [
    "KINDS",
    "MAX_CYCLES",
    "Chunks",
    "Command",
    "CommandFailed",
    "Commit",
    "Control",
    "Cycle",
    "IoClass",
    "Load",
    "Loop",
    "Mapped",
    "Memory",
    "MultiWrite",
    "Offender",
    "Raw",
    "RawOffender",
    "Read",
    "Repeat",
    "Role",
    "Serve",
    "SyncFilesystem",
    "SyncWrite",
    "Write",
]

_ALL: tuple[type[Load], ...] = (
    Control, Write, MultiWrite, SyncWrite, Commit, SyncFilesystem, Read, Mapped, Memory, Loop, Serve, Repeat, Raw,
    Offender, Chunks, RawOffender, Command,
)  # fmt: skip
KINDS: dict[str, type[Load]] = {load.kind: load for load in _ALL}
