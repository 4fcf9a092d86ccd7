"""Show a source's items on pages or a terminal, from a thread: the main thread stays free for the source."""

import asyncio
import os
import shutil
import subprocess
import sys
import textwrap
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from fcntl import F_SETPIPE_SZ, fcntl
from json import dumps

from wblab.core.errors import WblabError
from wblab.core.units import NS_PER_S
from wblab.lab.places import ROOT
from wblab.lab.printable import printable
from wblab.live.monitor.proc import ENVIRONMENT
from wblab.live.monitor.sampler import SamplerRequest
from wblab.live.monitor.samples import Batch, End, Item, SampleSource, line, parse
from wblab.live.monitor.told import Told

# Sources of a monitor's items: a sampler at the other end of a pipe, or a finished run.

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


# Recent samples, numbered, so that a reconnecting page continues where it was.

LIMIT_BYTES = 64 << 20


@dataclass(frozen=True)
class Numbered:
    """A batch as a line, and its number, from 1 on."""

    number: int
    text: bytes


class Feed:
    """A source's latest batches, up to `limit_bytes`, for any number of readers."""

    def __init__(self, limit_bytes: int = LIMIT_BYTES) -> None:
        self.source: SampleSource | None = None
        self.end: End | None = None
        self._limit_bytes = limit_bytes
        self._kept: deque[Numbered] = deque()
        self._bytes = 0
        self._last = 0
        self._changed = asyncio.Event()

    def add(self, item: Item) -> None:
        """Add the source's next item."""
        if isinstance(item, SampleSource):
            self.source = item
        elif isinstance(item, End):
            self.end = item
        else:
            self._keep(item)
        self._changed.set()
        self._changed = asyncio.Event()  # set at the next change

    def after(self, number: int) -> list[Numbered]:
        """Return the kept batches after this number."""
        if number > self._last:  # not one of our numbers
            number = 0
        first = self._kept[0].number if self._kept else 1
        return [self._kept[at] for at in range(max(0, number + 1 - first), len(self._kept))]

    def missed(self, number: int) -> int:
        """Return how many batches after this number are no longer kept."""
        first = self._kept[0].number if self._kept else 1
        return max(0, first - number - 1) if 0 < number <= self._last else 0

    async def change(self) -> None:
        """Wait until something is added."""
        await self._changed.wait()

    def _keep(self, batch: Batch) -> None:
        self._last += 1
        self._kept.append(Numbered(self._last, line(batch)))
        self._bytes += len(self._kept[-1].text)
        while self._bytes > self._limit_bytes and len(self._kept) > 1:
            self._bytes -= len(self._kept.popleft().text)


Items = AsyncIterator[Item]

_HEED_S = 1.0
_AGAIN_NS = NS_PER_S // 2


class Audience:
    """Shows a source's items while a `with` block of `showing` runs."""

    def __init__(self, show: Callable[[Items], Coroutine[None, None, None]]) -> None:
        """`show` takes the items, and runs until it is done or cancelled."""
        self._show = show
        self._end_shown = threading.Event()
        self._done = threading.Event()
        self._error: BaseException | None = None
        self._stop: Callable[[], object] = lambda: None

    @contextmanager
    def showing(self, items: Items) -> Iterator[None]:
        """Show these items until the end of the block. Raises what showing them raised."""
        started = threading.Event()
        thread = threading.Thread(target=lambda: asyncio.run(self._main(items, started)), name="audience")
        thread.start()
        started.wait()
        try:
            yield
        finally:
            self._stop()
            thread.join()
        if self._error:
            raise self._error

    def wait(self) -> None:
        """Wait until there is nothing more to show, or for Ctrl-C.

        The kernel may deliver a signal to the other thread, but only this one handles it: so it wakes now and then.
        """
        with suppress(KeyboardInterrupt):
            while not self._done.wait(_HEED_S):
                pass

    def await_end(self, limit_s: float) -> None:
        """Wait for the source's last item, which is about to arrive."""
        self._end_shown.wait(limit_s)

    async def _main(self, items: Items, started: threading.Event) -> None:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None

        def stop() -> None:
            with suppress(RuntimeError):  # it has ended by itself
                loop.call_soon_threadsafe(task.cancel)

        self._stop = stop
        started.set()
        try:
            await self._show(self._heard(items))
        except asyncio.CancelledError:
            pass
        except BaseException as error:
            self._error = error
        finally:
            self._done.set()
            self._end_shown.set()  # nobody listens any more

    async def _heard(self, items: Items) -> Items:
        now = Now()
        async for taken in items:
            item = now.told(taken)
            if isinstance(item, SampleSource) and item.untraced:
                reason = printable(item.untraced)
                print(f"wblab: no kernel events, so no dirty limit: {reason}", file=sys.stderr, flush=True)
            yield item
            if isinstance(item, End):
                if item.failed:
                    self._error = WblabError(item.reason)
                self._end_shown.set()


class Now:
    """Adds to each batch the sentence on who is stopped now, made twice a second."""

    def __init__(self) -> None:
        self._told, self._sentence, self._made_ns = Told(), "", 0

    def told(self, item: Item) -> Item:
        """Return an item, a batch with its sentence."""
        if isinstance(item, SampleSource):
            self._told.begin(item)
        if not isinstance(item, Batch):
            return item
        self._told.add(item)
        if not self._sentence or abs(item.now_ns - self._made_ns) >= _AGAIN_NS:
            self._sentence, self._made_ns = self._told.sentence(), item.now_ns
        return replace(item, now=self._sentence)


async def plain(items: Items) -> None:
    """Print the last seconds in five lines, each second: on a terminal in one place, elsewhere one after the other."""
    told, printed_ns, drawn = Told(), 0, 0
    async for item in items:
        if isinstance(item, SampleSource):
            told.begin(item)
            print(printable(item.name), flush=True)
        if not isinstance(item, Batch):
            continue
        told.add(item)
        if printed_ns and item.now_ns - printed_ns < NS_PER_S:
            continue
        printed_ns = item.now_ns
        lines = [printable(text) for text in told.lines()]
        if sys.stdout.isatty():
            width = shutil.get_terminal_size().columns
            lines = [part for text in lines for part in textwrap.wrap(text, width - 1, subsequent_indent=" " * 10)]
            up = f"\x1b[{drawn}A\x1b[J" if drawn else ""
            drawn = len(lines)
            print(up + "\n".join(lines), flush=True)
        else:
            print("\n".join([time.strftime("%H:%M:%S"), *lines, ""]), flush=True)


async def printed(items: Items) -> None:
    """Print items as JSON lines until they end."""
    async for item in items:
        sys.stdout.buffer.write(line(item))
        sys.stdout.buffer.flush()
