"""Connections that have not shown the token: few, and for a short time, so they cannot crowd out a page."""

import asyncio

from aiohttp.web_protocol import RequestHandler

# More than asyncio accepts at once (its backlog of 100), so a prompt client is answered before it is dropped. Together
# with those, fewer than the files that a process may have open by default (RLIMIT_NOFILE, 1024).
MOST = 512
LIMIT_S = 5.0  # for the whole first request, however slowly it arrives


class Strangers:
    """Connections, by protocol, without a valid token yet; they are closed after a while."""

    def __init__(self, most: int = MOST, limit_s: float = LIMIT_S) -> None:
        self._most, self._limit_s = most, limit_s
        self._waiting: dict[object, asyncio.TimerHandle] = {}  # oldest first

    def meet(self, protocol: RequestHandler) -> RequestHandler:
        """Register and return a new connection's protocol; if there are too many, close the oldest."""
        if len(self._waiting) >= self._most:
            self._end(next(iter(self._waiting)))
        self._waiting[protocol] = asyncio.get_running_loop().call_later(self._limit_s, self._end, protocol)
        return protocol

    def let_in(self, protocol: object) -> None:
        """Leave a connection alone from now on."""
        if timer := self._waiting.pop(protocol, None):
            timer.cancel()

    def _end(self, protocol: object) -> None:
        self.let_in(protocol)
        assert isinstance(protocol, RequestHandler)
        if protocol.transport:
            protocol.transport.abort()
