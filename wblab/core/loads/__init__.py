"""The kinds of load, a class each: what one cycle does, and all that others ask about it. A new one goes into KINDS."""

from wblab.core.loads.base import MAX_CYCLES, Cycle, IoClass, Load, Role
from wblab.core.loads.command import Command, CommandFailed
from wblab.core.loads.control import Control
from wblab.core.loads.offender import Offender
from wblab.core.loads.writes import MultiWrite, Write

__all__ = [
    "KINDS",
    "MAX_CYCLES",
    "Command",
    "CommandFailed",
    "Control",
    "Cycle",
    "IoClass",
    "Load",
    "MultiWrite",
    "Offender",
    "Role",
    "Write",
]

KINDS: dict[str, type[Load]] = {load.kind: load for load in (Control, Write, MultiWrite, Offender, Command)}
