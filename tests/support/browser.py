"""A headless Chromium, driven through its DevTools protocol (https://chromedevtools.github.io/devtools-protocol/).

Playwright would need less code here, but its wheels are for glibc only: as a dependency of the lab's set-up, it would
exclude Alpine.
"""

import asyncio
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest

from wblab.lab.packages import BROWSERS

_LIMIT_S = 120.0
_QUIET = ("--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync")


class Browser:
    """One page; `troubles` are exceptions in its scripts and errors that it logged."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.troubles: list[str] = []
        self._socket = socket
        self._number = 0

    async def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        await self._socket.send_json({"id": self._number, "method": method, "params": parameters})
        while True:
            message = json.loads(await self._socket.receive_str())
            if message.get("id") == self._number:
                assert "error" not in message, message
                return message["result"]
            if message.get("method") == "Runtime.exceptionThrown":
                self.troubles.append(json.dumps(message["params"]["exceptionDetails"]))
            if message.get("method") == "Log.entryAdded" and message["params"]["entry"]["level"] == "error":
                self.troubles.append(message["params"]["entry"]["text"])

    async def value(self, expression: str) -> Any:
        """Return the value of a script, as JSON."""
        answer = await self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    async def until(self, expression: str) -> None:
        """Wait until a script's value is true."""
        async with asyncio.timeout(_LIMIT_S):
            while not await self.value(expression):
                await asyncio.sleep(0.05)


@asynccontextmanager
async def browser(address: str) -> AsyncIterator[Browser]:
    """Open a page; skip if no browser is installed."""
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        pytest.skip("no Chromium is installed")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        options = ["--headless", "--disable-gpu", "--remote-debugging-port=0", f"--user-data-dir={profile}"]
        options += ["--window-size=1200,1000", *_QUIET]
        options += [] if os.geteuid() else ["--no-sandbox"]  # Chromium refuses to run as root in a sandbox
        own = os.environ | {"TMPDIR": profile}  # it leaves files there
        process = await asyncio.create_subprocess_exec(
            program, *options, "about:blank", stderr=subprocess.PIPE, env=own
        )
        try:
            async with aiohttp.ClientSession() as session:
                port = await asyncio.wait_for(_port(process), _LIMIT_S)
                async with session.put(f"http://127.0.0.1:{port}/json/new?about:blank") as answer:
                    place = (await answer.json())["webSocketDebuggerUrl"]
                async with session.ws_connect(place, max_msg_size=0) as socket:
                    page = Browser(socket)
                    for domain in ("Runtime", "Log", "Page"):
                        await page.call(f"{domain}.enable")
                    await page.call("Page.navigate", url=address)
                    await page.until(
                        "['http:', 'file:'].includes(location.protocol) && document.readyState === 'complete'"
                    )
                    yield page
        finally:
            process.terminate()
            await process.wait()


async def _port(process: asyncio.subprocess.Process) -> str:
    assert process.stderr is not None
    async for text in process.stderr:
        if b"DevTools listening on" in text:
            return text.decode().split(":")[2].partition("/")[0]
    raise AssertionError("the browser does not start")
