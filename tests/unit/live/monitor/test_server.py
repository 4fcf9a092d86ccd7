"""The server, with requests through a socket like a browser's."""

import asyncio
import json
from contextlib import asynccontextmanager, suppress

import aiohttp
import pytest
from support.waiting import patience_s

from wblab.live.monitor.samples import Batch, End, SampleSource
from wblab.live.monitor.server import Strangers, address, listen, serve

TOKEN = "a-token"
LOOK = {"dirty": "#9CCBE8"}


async def source(count=3, ends=True):
    yield SampleSource("x", 0)
    for number in range(count):
        yield Batch(number)
    if ends:
        yield End("over")
    await asyncio.Event().wait()


@asynccontextmanager
async def served(items=None, strangers=None):
    listening = listen(0)
    task = asyncio.create_task(serve(items or source(), listening, TOKEN, LOOK, strangers))
    try:
        async with aiohttp.ClientSession(raise_for_status=False) as session:
            yield session, address(listening, TOKEN)
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def get(path, **options):
    """Return status, headers and body of one response; `path` is relative to the page, or begins with a slash."""

    async def ask():
        async with served() as (session, page):
            root = page.removesuffix(f"{TOKEN}/")
            url = root + path[1:] if path.startswith("/") else page + path
            async with session.get(url, **options) as response:
                return response.status, response.headers, await response.read()

    return asyncio.run(ask())


def test_only_the_loopback_address_is_served():
    with listen(0) as listening:
        assert listening.getsockname()[0] == "127.0.0.1"
        with pytest.raises(OSError, match="in use"):
            listen(listening.getsockname()[1])


@pytest.mark.parametrize("name", ["", "page.js", "store.js", "panes.js", "page.css", "uPlot.iife.min.js", "look.json"])
def test_the_page_has_all_that_it_needs_without_a_network(name):
    status, headers, body = get(name)
    assert (status, headers["Cache-Control"], headers["X-Content-Type-Options"]) == (200, "no-store", "nosniff")
    assert headers["Content-Security-Policy"].startswith("default-src 'none'; script-src 'self'")
    assert body
    assert b"http://" not in body.replace(b"http://www.w3.org", b"")


def test_the_page_gets_its_colours():
    assert json.loads(get("look.json")[2]) == LOOK


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/samples",
        "/a-toke/",
        "/a-token-/samples",
        "/%20a-token/",
        "/A-TOKEN/",
        "/ä/",
        "/a-token",
        "/favicon.ico",
        "none.js",
        "../a-token/x",
        "uPlot.LICENSE",
        "..%2fserver.py",
    ],
)
def test_a_wrong_token_or_path_gets_nothing(path):
    assert get(path)[0] == 404


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1", 200),
        ("localhost:80", 200),
        ("evil.example", 404),
        ("evil.example:80", 404),
        ("127.0.0.1.evil.example", 404),
        ("", 404),
    ],
)
def test_another_host_name_is_refused(host, status):
    assert get("", headers={"Host": host})[0] == status
    assert get("samples", headers={"Host": host})[0] == status


@pytest.mark.parametrize(
    ("origin", "status"),
    [("http://{host}", 200), ("http://evil.example", 404), ("https://{host}", 404), ("null", 404), ("", 404)],
)
def test_another_origin_gets_nothing(origin, status):
    async def ask():
        async with served() as (session, page):
            host = page.split("/")[2]
            async with session.get(page, headers={"Origin": origin.format(host=host)}) as response:
                return response.status

    assert asyncio.run(ask()) == status


async def said_to(page, request):
    """Send these bytes to the server, and return its response until the connection ends."""
    host, port = page.split("/")[2].split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(request)
    writer.write_eof()
    with suppress(ConnectionError):
        return await reader.read()
    return b""


GET = b"GET /%s/ HTTP/1.1\r\n" % TOKEN.encode()


@pytest.mark.parametrize(
    "request_",
    [
        GET + b"Host: [\r\n\r\n",
        GET + b"Host: 127.0.0.1:99999999999999\r\n\r\n",
        GET + b"Host: 127.0.0.1\r\nHost: evil.example\r\n\r\n",
        GET + b"\r\n",
        b"GET /%ff%00%0d%0a/ HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"GET /\xff\xfe/ HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"GET http://[::1/ HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"GET // HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\nzz",
        b"CONNECT x HTTP/1.1\r\n\r\n",
        b"\0" * 10_000,
        b"GET / HTTP/1.1\r\nHost: " + b"x" * 100_000,
        b"\x16\x03\x01\x02\x00\x01\x00",
    ],
)
def test_invalid_requests_get_no_answer_and_no_log(request_, capfd, caplog):
    async def ask():
        async with served() as (session, page):
            said = await said_to(page, request_)
            async with session.get(page) as response:
                assert response.status == 200
            return said

    said = asyncio.run(ask())
    assert b" 200 " not in said.partition(b"\r\n")[0]
    assert capfd.readouterr().err == ""
    assert "Traceback" not in caplog.text


def test_of_many_half_open_connections_the_oldest_end_and_a_page_stays():
    async def ask():
        async with served(source(ends=False), Strangers(most=20, limit_s=3600.0)) as (session, page):
            host, port = page.split("/")[2].split(":")
            async with session.get(f"{page}samples") as old:
                await old.content.readuntil(b'"now_ns":0')
                held = [await asyncio.open_connection(host, int(port)) for _ in range(50)]
                for reader, _ in held[:30]:
                    with suppress(ConnectionError):
                        assert await reader.read() == b""
                assert not any(reader.at_eof() for reader, _ in held[30:])
                await old.content.readuntil(b'"now_ns":2')
                for _, writer in held:
                    writer.close()

    asyncio.run(ask())


def test_slow_requests_are_disconnected():
    limit_s = patience_s()

    async def ask():
        async with served(source(ends=False), Strangers(limit_s=limit_s)) as (session, page):
            host, port = page.split("/")[2].split(":")
            reader, writer = await asyncio.open_connection(host, int(port))
            writer.write(GET)
            with suppress(ConnectionError):
                assert await reader.read() == b""
            async with session.get(f"{page}samples") as response:  # a connection with the token is kept
                await response.content.readuntil(b'"now_ns":2')
                await asyncio.sleep(1.5 * limit_s)
                assert not response.content.at_eof()

    asyncio.run(ask())


@pytest.mark.parametrize(
    ("headers", "query", "first"),
    [
        ({}, "", 1),
        ({"Last-Event-ID": "2"}, "", 3),
        ({"Last-Event-ID": "2"}, "?after=1", 3),
        ({}, "?after=2", 3),
        ({"Last-Event-ID": "3"}, "", None),
        ({"Last-Event-ID": "-1"}, "", 1),
        ({"Last-Event-ID": "9" * 400}, "", 1),
        ({"Last-Event-ID": "x"}, "?after=", 1),
    ],
)
def test_a_page_continues_after_its_last_batch(headers, query, first):
    status, answered, body = get(f"samples{query}", headers=headers)
    assert (status, answered["Content-Type"]) == (200, "text/event-stream")
    ids = [int(text[4:]) for text in body.split(b"\n") if text.startswith(b"id: ")]
    assert ids == (list(range(first, 4)) if first else [])
    assert body.count(b'"source"') == body.count(b'"end"') == 1


def test_many_pages_get_the_same_batches():
    async def ask():
        async with served(source(500)) as (session, page):
            responses = await asyncio.gather(*(session.get(f"{page}samples") for _ in range(4)))
            return await asyncio.gather(*(response.read() for response in responses))

    bodies = asyncio.run(ask())
    assert len(set(bodies)) == 1
    assert bodies[0].count(b"\nid: ") == 500


def test_the_server_ends_without_waiting_for_pages():
    async def ask():
        loop = asyncio.get_running_loop()
        async with served(source(1, ends=False)) as (session, page):
            response = await session.get(f"{page}samples")
            await response.content.readuntil(b'"batch"')
            start_s = loop.time()
        return loop.time() - start_s

    assert asyncio.run(ask()) < 30
