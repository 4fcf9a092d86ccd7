"""Connections of those who have not shown the token: few, and not for long, so that they take no place from a page."""

import asyncio

from aiohttp.web_protocol import RequestHandler

# More than asyncio accepts at once (its backlog of 100), so that who asks right away is heard before it has to go; and
# with those, less than a process may have open by default (RLIMIT_NOFILE, 1024).
MOST = 512
LIMIT_S = 5.0  # for the whole of a first request, however slowly it comes


class Strangers:
    """The connections, each by its protocol, that nobody has let in; they end."""

    def __init__(self) -> None:
        self._waiting: dict[object, asyncio.TimerHandle] = {}  # the oldest first

    def meet(self, protocol: RequestHandler) -> RequestHandler:
        """Take and return the protocol of a new connection; where there are too many, the oldest ends for it."""
        if len(self._waiting) >= MOST:
            self._end(next(iter(self._waiting)))
        self._waiting[protocol] = asyncio.get_running_loop().call_later(LIMIT_S, self._end, protocol)
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
