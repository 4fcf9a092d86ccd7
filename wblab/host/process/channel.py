"""The host's end of the status channel: bytes of a guest become messages, however they come."""

import time
from collections.abc import Callable, Iterator

from wblab.core.errors import WblabError
from wblab.core.status import Message

# How long a guest has been silent while it could have spoken.

_MOST = 5


class Silence:
    """Host time without a word from a guest, in s, but for the time in which no processor was free for it.

    limit_s: how long is too long. waited_s: returns for how long the guest has waited for a processor in all; it is
    asked from half of the limit on, as it costs a look at each of the guest's processes. A guest that waits for
    something else, or that runs in a circle, is not excused; nor is one for ever on a machine that is always busy: its
    silence lasts no longer than _MOST limits. now_s: the host's clock.
    """

    def __init__(
        self, limit_s: float, waited_s: Callable[[], float], now_s: Callable[[], float] = time.monotonic
    ) -> None:
        self.limit_s = limit_s
        self._waited_s, self._now_s = waited_s, now_s
        self.broken()

    def broken(self) -> None:
        """Begin anew: the guest has spoken."""
        self._since_s = self._now_s()
        self._waited_before_s: float | None = None

    def is_over(self) -> bool:
        """Return whether it has lasted too long."""
        lasted_s = self._now_s() - self._since_s
        if lasted_s < self.limit_s / 2:
            return False
        if self._waited_before_s is None:
            self._waited_before_s = self._waited_s()
        if lasted_s < self.limit_s:
            return False
        waited_s = self._waited_s() - self._waited_before_s
        return lasted_s - waited_s >= self.limit_s or lasted_s >= _MOST * self.limit_s


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
