"""Sources of a monitor's items: a sampler at the other end of a pipe, or a finished run."""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from fcntl import F_SETPIPE_SZ, fcntl
from json import dumps

from wblab.core.units import NS_PER_S
from wblab.lab.places import ROOT
from wblab.live.monitor.proc import ENVIRONMENT
from wblab.live.monitor.sampler import SamplerRequest
from wblab.live.monitor.samples import Batch, End, Item, parse

_PIPE_BYTES = 1 << 20  # the limit for an ordinary user: room for minutes of samples, in case we are late
_LINE_BYTES = 1 << 24


def command(request: SamplerRequest, python: str) -> list[str]:
    """Return the command of a sampler: standard library only, no byte code written."""
    variables = [f"{key}={value}" for key, value in ENVIRONMENT.items()]
    options = ["-S", "-s", "-P", "-B", "-m", "wblab.live.monitor.sampler"]
    return ["env", *variables, python, *options, dumps(asdict(request))]


def pipe() -> tuple[int, int]:
    """Return the two ends of a pipe that holds many samples."""
    reading, writing = os.pipe()
    with suppress(OSError):
        fcntl(writing, F_SETPIPE_SZ, _PIPE_BYTES)
    return reading, writing


@contextmanager
def sampler(request: SamplerRequest, writing: int) -> Iterator[None]:
    """Run a sampler that writes to a pipe while the block runs; our copy of the pipe's end is closed.

    It runs in a session of its own: the terminal's signals are for us, and we stop it.
    """
    try:
        process = subprocess.Popen(
            command(request, sys.executable),
            stdin=subprocess.DEVNULL,
            stdout=writing,
            env={"PATH": os.defpath, "PYTHONPATH": str(ROOT)},
            start_new_session=True,
        )
    finally:
        os.close(writing)
    try:
        yield
    finally:
        process.terminate()
        process.wait()


async def piped(fd: int) -> AsyncIterator[Item]:
    """Yield the items that arrive through a pipe, then an End, and close it."""
    reader = asyncio.StreamReader(limit=_LINE_BYTES)
    loop = asyncio.get_running_loop()
    file = open(fd, "rb", 0)  # noqa: SIM115 - the transport closes it
    transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), file)
    try:
        async for text in reader:
            with suppress(ValueError):  # a truncated line
                yield (item := parse(text))
                if isinstance(item, End):
                    return
        yield End("the sampler died without a message", failed=True)
    finally:
        transport.close()


async def replayed(items: Iterable[Item], speed: float) -> AsyncIterator[Item]:
    """Yield items at the pace at which they were taken, `speed` times as fast; infinite: at once."""
    loop = asyncio.get_running_loop()
    began_s, first_ns = loop.time(), None
    for item in items:
        if isinstance(item, Batch):
            first_ns = item.now_ns if first_ns is None else first_ns
            due_s = began_s + (item.now_ns - first_ns) / NS_PER_S / speed
            await asyncio.sleep(max(0.0, due_s - loop.time()))
        yield item
