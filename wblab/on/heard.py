"""What a guest says of a user's program while it runs: its output goes on to ours, and how it ended is kept.

The guest never waits for whoever reads our output: that would be the host's time in the guest. So what it says is read
at once, and written by a thread of its own.
"""

import os
import select
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from queue import SimpleQueue
from threading import Thread
from typing import Any

from wblab.core.errors import WblabError
from wblab.lab.printable import printable
from wblab.on.order import ERR, EXIT, MOST_BYTES, NOTE, OURS, OUT, Frames

_PIECE = 1 << 16
_TAIL = 1 << 16
_MOST_NOTES = 100


class UnreadError(WblabError):
    """Nobody reads standard output any more: a program that ran here would be ended by SIGPIPE."""


@dataclass
class Said:
    """What a guest said: how the program ended, and notes; printed: digests of what came out of it.

    time_ns: how long the program ran, in the guest's time. tails: of what came out of it, the last _TAIL bytes or more.
    unread: nobody reads our standard output any more. unwritten: why something could not be written.
    """

    code: int = OURS
    time_ns: int = 0
    notes: list[str] = field(default_factory=list)
    printed: "dict[str, Any]" = field(default_factory=lambda: {OUT: sha256(), ERR: sha256()})
    tails: dict[str, bytearray] = field(default_factory=lambda: {OUT: bytearray(), ERR: bytearray()})
    unread: bool = False
    unwritten: str = ""
    _size: int = 0
    _left_out: set[str] = field(default_factory=set)

    def hear(self, kind: str, content: bytes) -> bool:
        """Take in a frame. Return whether it is output to write: a guest that prints more than it may is not heard."""
        if kind == EXIT:
            code, _, time_ns = content.partition(b" ")
            self.code = int(code) if code.isdigit() and len(code) <= 3 and int(code) < 256 else OURS
            self.time_ns = int(time_ns) if time_ns.isdigit() and len(time_ns) < 20 else 0
        elif kind == NOTE:
            if len(self.notes) < _MOST_NOTES:
                self.notes.append(printable(content.decode(errors="replace"))[:500])
        elif self._size <= MOST_BYTES + _PIECE:
            self._size += len(content)
            self._printed_more(kind, content)
            return True
        return False

    def _printed_more(self, kind: str, content: bytes) -> None:
        self.printed[kind].update(content)
        tail = self.tails[kind]
        tail += content
        if len(tail) > 2 * _TAIL:
            del tail[:-_TAIL]
            self._left_out.add(kind)

    def last(self, kind: str, most: int) -> tuple[bytes, bool]:
        """Return the last bytes of what it printed, at most _TAIL, and whether they are all."""
        tail = bytes(self.tails[kind])
        return tail[-most:], kind not in self._left_out and len(tail) <= most

    def table(self) -> dict[str, Any]:
        """Return what two runs of a program are compared by."""
        out, err = (self.printed[kind].hexdigest() for kind in (OUT, ERR))
        return {"exit_code": self.code, "stdout_sha256": out, "stderr_sha256": err}

    def check_read(self) -> None:
        """Raise UnreadError if nobody reads standard output any more."""
        if self.unread:
            raise UnreadError("nobody read what the program printed any more")


@contextmanager
def listening(sinks: Mapping[str, int]) -> Iterator[tuple[Said, int]]:
    """Yield what a guest says, and the descriptor into which it says it. At the end all is heard and written.

    sinks: descriptors that get what the program prints, by its kind.
    """
    said, (reading, writing) = Said(), os.pipe()
    queue: SimpleQueue[tuple[str, bytes] | None] = SimpleQueue()
    threads = [
        Thread(target=_listen, args=(reading, said, queue), daemon=True),
        Thread(target=_write, args=(queue, said, sinks), daemon=True),
    ]
    for thread in threads:
        thread.start()
    try:
        yield said, writing
    finally:
        os.close(writing)
        for thread in threads:
            thread.join()


def _listen(reading: int, said: Said, queue: "SimpleQueue[tuple[str, bytes] | None]") -> None:
    frames = Frames()
    with open(reading, "rb", buffering=0) as source:
        while piece := source.read(_PIECE):
            for kind, content in frames.feed(piece):
                if said.hear(kind, content):
                    queue.put((kind, content))
    queue.put(None)


def _write(queue: "SimpleQueue[tuple[str, bytes] | None]", said: Said, sinks: Mapping[str, int]) -> None:
    closed = set()
    while item := queue.get():
        kind, content = item
        if kind in closed:
            continue
        try:
            _write_all(sinks[kind], content)
        except BrokenPipeError:
            closed.add(kind)
            said.unread = said.unread or kind == OUT
        except OSError as error:
            closed.add(kind)
            said.unwritten = f"cannot write what it prints: {error.strerror}"


def _write_all(descriptor: int, content: bytes) -> None:
    while content:
        try:
            content = content[os.write(descriptor, content) :]
        except BlockingIOError:  # whoever has the other end made it so
            select.select([], [descriptor], [])
