"""The host's end of the status channel: bytes of a guest become messages, however they come."""

from collections.abc import Iterator

from wblab.core.errors import WblabError
from wblab.core.status import Message

_LONGEST_LINE_BYTES = 64 << 10


class Channel:
    """Turns what is read into messages; `said_bytes` counts it."""

    def __init__(self) -> None:
        self.said_bytes = 0
        self._begun = bytearray()  # of the line that is not at its end yet

    def feed(self, chunk: bytes) -> Iterator[Message]:
        """Yield the messages that this chunk ends. Raises WblabError for what is no message."""
        self.said_bytes += len(chunk)
        first, *others = chunk.split(b"\n")  # only the new bytes: a line without an end costs no more than its length
        self._begun += first
        for part in others:
            yield _parsed(bytes(self._begun))
            self._begun = bytearray(part)
        if len(self._begun) > _LONGEST_LINE_BYTES:
            raise WblabError(f"the guest sent an invalid message: a line of more than {_LONGEST_LINE_BYTES} bytes")


def _parsed(line: bytes) -> Message:
    try:
        return Message.parse(line)
    except ValueError:
        raise WblabError(f"the guest sent an invalid message: {line[:100]!r}") from None
