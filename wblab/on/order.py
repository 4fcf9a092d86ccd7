"""What is handed to a guest that runs a user's program: an order, as JSON, and beside it the files that it names.

Both sides read this module: it imports the standard library only. The guest has the files at layout.PACKAGES.
"""

import base64
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from wblab.on.faults import Faults

ORDER = "order.json"
KEPT = "kept.tar"  # in layout.LEFT: what --keep names
LOAD = "command"  # the name of the load that carries the program out
NAME = "wblab-on"  # what the guest calls the process that does
# What the guest says, a frame a line: a letter, and what it means in base64.
OUT, ERR, EXIT, NOTE = "o", "e", "x", "n"
CHUNK_BYTES = 2048
MOST_BYTES = 64 << 20  # of output that is passed on
CANNOT_INVOKE, NOT_FOUND, OURS = 126, 127, 125  # exit codes of env(1)


@dataclass(frozen=True)
class Order:
    """A command, and the world in which it runs.

    directory: what goes with it, as the host calls it; in the guest it lies on the slow disk. begins: the directory in
    there in which the command runs. tree: the archive of its files, "" for an empty one. clock_s: of the guest's wall
    clock at the start, since 1970; 0: as it is. linked: directories below that are not in the archive, and are the
    host's, to be read only. stdin: the file of standard input; "" for none. environment: all variables. uid, gid: whom
    it runs as. keep: what comes back of the directory. beside: loads that write to the same disk meanwhile, as tables,
    by name. seed: of their choices. columns, lines: of the terminal that standard output and error are; 0: they are
    none. faults: what happens to the disk.
    """

    argv: tuple[str, ...]
    directory: str
    begins: str = ""
    tree: str = ""
    clock_s: int = 0
    linked: tuple[str, ...] = ()
    stdin: str = ""
    environment: dict[str, str] = field(default_factory=dict)
    uid: int = 0
    gid: int = 0
    keep: tuple[str, ...] = ()
    beside: dict[str, dict[str, Any]] = field(default_factory=dict)
    seed: int = 0
    columns: int = 0
    lines: int = 0
    faults: Faults = field(default_factory=Faults)

    def text(self) -> str:
        """Return the order as JSON, always the same text for the same order."""
        return json.dumps(asdict(self), sort_keys=True)


def read_order(text: str) -> Order:
    """Return the order of a text."""
    table: dict[str, Any] = json.loads(text)
    faults = Faults(**table.pop("faults", {}))
    found = {key: tuple(value) if isinstance(value, list) else value for key, value in table.items()}
    return Order(**dict[str, Any](found), faults=faults)


def frame(kind: str, content: bytes) -> bytes:
    """Return what the guest says as a line."""
    return kind.encode() + base64.b64encode(content) + b"\n"


class Frames:
    """What the guest says, put together from pieces. A line that is no frame is left out: the guest is a stranger."""

    _LONGEST = 4 * CHUNK_BYTES

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, piece: bytes) -> Iterator[tuple[str, bytes]]:
        """Yield the frames that a piece completes: their kind and content."""
        *lines, self._rest = (self._rest + piece).split(b"\n")
        self._rest = self._rest[: self._LONGEST]
        for line in lines:
            try:
                kind, content = line[:1].decode("ascii"), base64.b64decode(line[1:].strip(), validate=True)
            except ValueError:
                continue
            if kind in (OUT, ERR, EXIT, NOTE):
                yield kind, content
