import asyncio
import os
import signal
import threading
from dataclasses import replace

import pytest

from wblab.core.errors import WblabError
from wblab.live.monitor.audience import Audience, piped, printed, replayed
from wblab.live.monitor.samples import Batch, End, Source, line

S = 10**9
ITEMS = [Source("x", 0), Batch(1 * S), Batch(3 * S), End("over")]


class Heard:
    def __init__(self):
        self.items = []

    async def show(self, items):
        async for item in items:
            self.items.append(item)


def through_a_pipe(*chunks):
    reading, writing = os.pipe()
    heard = Heard()
    audience = Audience(heard.show)
    with audience.showing(piped(reading)):
        for chunk in chunks:
            os.write(writing, chunk)
        os.close(writing)
        audience.await_end(60)
    return heard.items


def told(items):
    """Return items as an audience has them: each batch with the sentence on who is stopped."""
    return [replace(item, now="Nobody is seen to be stopped.") if isinstance(item, Batch) else item for item in items]


def test_items_come_through_a_pipe_in_pieces_and_with_a_terminals_line_ends():
    text = b"".join(map(line, ITEMS))
    assert through_a_pipe(text[:30], text[30:77], text[77:].replace(b"\n", b"\r\n")) == told(ITEMS)


def test_a_pipe_that_ends_too_soon_is_a_failure():
    with pytest.raises(WblabError, match="died without a message"):
        through_a_pipe(line(ITEMS[0]), line(ITEMS[1])[:20])


def test_invalid_lines_are_skipped():
    assert through_a_pipe(b"kernel: something\n\n" + line(ITEMS[0]) + line(ITEMS[-1])) == [ITEMS[0], ITEMS[-1]]


def test_a_failed_source_is_reported_at_the_end():
    with pytest.raises(WblabError, match="cannot undo"):
        through_a_pipe(line(End("cannot undo this", failed=True)))


def test_items_are_printed_as_lines(capfdbinary):
    audience = Audience(printed)
    with audience.showing(replayed(ITEMS, float("inf"))):
        audience.wait()
    assert capfdbinary.readouterr().out == b"".join(map(line, told(ITEMS)))


def test_the_reason_for_missing_events_is_printed_once(capfd):
    audience = Audience(printed)
    with audience.showing(replayed([Source("x", 0, "only root may trace"), ITEMS[-1]], 1.0)):
        audience.wait()
    assert capfd.readouterr().err == "wblab: no kernel events, so no dirty limit: only root may trace\n"


def test_a_replay_takes_the_run_s_time_divided_by_its_speed():
    async def paced():
        loop = asyncio.get_running_loop()
        start_s = loop.time()
        return [(loop.time() - start_s) async for _ in replayed(ITEMS, 10.0)]

    assert asyncio.run(paced())[2] >= 0.2


def test_an_interrupt_ends_the_wait_and_the_thread():
    async def never(items):
        await asyncio.Event().wait()

    audience = Audience(never)
    with audience.showing(replayed([], 1.0)):
        threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        audience.wait()
    assert "audience" not in [thread.name for thread in threading.enumerate()]


def test_a_closed_standard_output_ends_the_command():
    async def broken(items):
        raise BrokenPipeError

    audience = Audience(broken)
    with pytest.raises(BrokenPipeError), audience.showing(replayed([], 1.0)):
        audience.wait()
