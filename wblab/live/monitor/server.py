"""Serve the page and its samples over HTTP, on 127.0.0.1 only, to clients that know the token in the address.

Samples are server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html). A browser that
reconnects sends the number of its last batch, and gets what came after.
"""

import asyncio
import errno
import hmac
import json
import logging
import os
import re
import shlex
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import suppress
from importlib.resources import files
from importlib.resources.abc import Traversable

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError
from aiohttp.web_protocol import RequestHandler

from wblab.live.monitor.audience import Feed
from wblab.live.monitor.samples import Item, line
from wblab.report.page import render

# Connections that have not shown the token: few, and for a short time, so they cannot crowd out a page.

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


ADDRESS = "127.0.0.1"

# Names of this machine. A foreign name that resolves to us is an attack (DNS rebinding).
_HOST = re.compile(r"(127\.0\.0\.1|localhost)(:[0-9]{1,5})?", re.IGNORECASE)
_PAGE = "page.html"
_KINDS = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}
_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",  # the address is a secret
    "X-Content-Type-Options": "nosniff",
}
_RETRY_MS = 300
_AT_ONCE = 200  # batches in one piece, for a page that was away for long
_CLOSING_S = 1.0

_log = logging.getLogger(__name__)
_log.addFilter(lambda entry: not _is_others(entry))

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def application(
    feed: Feed, token: str, look: Mapping[str, object], let_in: Callable[[object], None] = lambda protocol: None
) -> web.Application:
    """Return the application that answers requests. `look`: names and colours for the page.

    `let_in` is called with the connection (its protocol) of each client that knows the token.
    """
    contents = {path.name: (path.read_bytes(), kind) for path, kind in _assets()}
    contents[""] = contents[_PAGE]
    contents["colours.css"] = (render("wblab.report", "colours.css").encode(), "text/css")
    contents["look.json"] = (json.dumps(look).encode(), "application/json")

    async def asset(request: web.Request) -> web.StreamResponse:
        if (content := contents.get(request.match_info["name"])) is None:
            raise web.HTTPNotFound
        return web.Response(body=content[0], content_type=content[1], charset="utf-8")

    async def samples(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream", **_HEADERS})
        await response.prepare(request)
        with suppress(ConnectionResetError):  # the browser is gone
            async for piece in events(feed, _last(request)):
                await response.write(piece)
        return response

    @web.middleware
    async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
        given = request.match_info.get("token", "")
        if not _is_own(request) or not hmac.compare_digest(given.encode(errors="replace"), token.encode()):
            raise web.HTTPNotFound
        let_in(request.protocol)
        response = await handler(request)
        if not response.prepared:
            response.headers.update(_HEADERS)
        return response

    app = web.Application(middlewares=[guard])
    app.router.add_get("/{token}/samples", samples)
    app.router.add_get("/{token}/{name:[^/]*}", asset)
    return app


async def events(feed: Feed, number: int) -> AsyncIterator[bytes]:
    """Yield the events after batch `number` (0: all), until the source ends."""
    yield f"retry: {_RETRY_MS}\n\n".encode()
    while feed.source is None and feed.end is None:
        await feed.change()
    if feed.source:
        yield _event(line(feed.source))
    if missed := feed.missed(number):
        yield _event(json.dumps({"missed": missed}).encode())
    while True:
        batches = feed.after(number)
        for at in range(0, len(batches), _AT_ONCE):
            piece = batches[at : at + _AT_ONCE]
            yield b"".join(_event(batch.text, batch.number) for batch in piece)
            number = piece[-1].number
        if feed.after(number):
            continue
        if feed.end:
            yield _event(line(feed.end))
            return
        await feed.change()


def listen(port: int) -> socket.socket:
    """Return a socket that listens on 127.0.0.1; port 0: a free one. Raises OSError."""
    return socket.create_server((ADDRESS, port))


def listen_by_default(port: int) -> socket.socket:
    """Return a socket that listens on this port or, where that is taken, on a free one. Raises OSError."""
    try:
        return listen(port)
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
        return listen(0)


def tunnel(listening: socket.socket) -> str:
    """Return the command that makes the page reachable from another machine, on which it is run."""
    port, user = listening.getsockname()[1], os.environ.get("SUDO_USER") or os.environ.get("USER") or "USER"
    return shlex.join(["ssh", "-L", f"{port}:{ADDRESS}:{port}", f"{user}@{os.uname().nodename}"])


def address(listening: socket.socket, token: str) -> str:
    """Return the page's address."""
    return f"http://{ADDRESS}:{listening.getsockname()[1]}/{token}/"


async def serve(
    items: AsyncIterator[Item],
    listening: socket.socket,
    token: str,
    look: Mapping[str, object],
    strangers: Strangers | None = None,
) -> None:
    """Serve a source's items to all pages, also after its end, until cancelled. strangers: without the token so far."""
    feed = Feed()
    strangers = strangers or Strangers()
    app = application(feed, token, look, strangers.let_in)
    runner = web.AppRunner(app, access_log=None, logger=_log, shutdown_timeout=_CLOSING_S)
    await runner.setup()
    assert runner.server is not None
    server, loop = runner.server, asyncio.get_running_loop()
    listener = await loop.create_server(lambda: strangers.meet(server()), sock=listening)
    try:
        async for item in items:
            feed.add(item)
        await asyncio.Event().wait()
    finally:
        listener.close()
        await runner.cleanup()


def _is_own(request: web.Request) -> bool:
    """Whether a request uses this machine's own name, and comes from no page but ours."""
    host = request.headers.get("Host", "")
    return bool(_HOST.fullmatch(host)) and request.headers.get("Origin", f"http://{host}") == f"http://{host}"


def _is_others(entry: logging.LogRecord) -> bool:
    """Whether a log entry reports a malformed request, which any user can send at any rate."""
    return entry.exc_info is not None and isinstance(entry.exc_info[1], HttpProcessingError)


def _assets() -> Iterator[tuple[Traversable, str]]:
    """Yield the files of the page and their media types."""
    of_timelines = (path for path in (files("wblab.plot") / "assets").iterdir() if path.name.startswith("uPlot"))
    for path in (*(files("wblab.live.monitor") / "assets").iterdir(), *of_timelines):
        if kind := _KINDS.get(os.path.splitext(path.name)[1]):
            yield path, kind


def _last(request: web.Request) -> int:
    """Return the number of the page's last batch, sent by the browser, or by the page when it reconnects itself."""
    text = request.headers.get("Last-Event-ID") or request.query.get("after", "")
    return int(text) if text.isdecimal() and len(text) < 16 else 0


def _event(text: bytes, number: int | None = None) -> bytes:
    head = b"" if number is None else b"id: %d\n" % number
    return head + b"data: " + text.rstrip(b"\n") + b"\n\n"
