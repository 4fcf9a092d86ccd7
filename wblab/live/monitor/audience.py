"""Show a source's items on pages or a terminal, from a thread: the main thread stays free for the source."""

import asyncio
import sys
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress

from wblab.core.errors import WblabError
from wblab.lab.printable import printable
from wblab.live.monitor.samples import End, Item, Source, line

Items = AsyncIterator[Item]

_HEED_S = 1.0


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
        async for item in items:
            if isinstance(item, Source) and item.untraced:
                reason = printable(item.untraced)
                print(f"wblab: no kernel events, so no dirty limit: {reason}", file=sys.stderr, flush=True)
            yield item
            if isinstance(item, End):
                if item.failed:
                    self._error = WblabError(item.reason)
                self._end_shown.set()


async def printed(items: Items) -> None:
    """Print items as JSON lines until they end."""
    async for item in items:
        sys.stdout.buffer.write(line(item))
        sys.stdout.buffer.flush()
