import asyncio
import os
import signal
import threading
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wblab.core.errors import WblabError
from wblab.live.monitor.audience import Audience, Feed, piped, printed, replayed
from wblab.live.monitor.samples import Batch, End, SampleSource, line
from wblab.live.monitor.server import events

S = 10**9
ITEMS = [SampleSource("x", 0), Batch(1 * S), Batch(3 * S), End("over")]


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
    return [
        replace(item, now="Nobody is seen to be stopped now.") if isinstance(item, Batch) else item for item in items
    ]


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
    with audience.showing(replayed([SampleSource("x", 0, "only root may trace"), ITEMS[-1]], 1.0)):
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


ONE = len(line(Batch(1)))


def filled(count, limit_bytes=1 << 20):
    feed = Feed(limit_bytes)
    for number in range(1, count + 1):
        feed.add(Batch(number % 10))
    return feed


def numbers(batches):
    return [batch.number for batch in batches]


def test_batches_are_numbered_from_one():
    feed = filled(3)
    assert numbers(feed.after(0)) == [1, 2, 3]
    assert feed.after(2)[0].text == line(Batch(3))
    assert feed.after(3) == []


def test_the_oldest_batches_are_dropped_first_and_readers_learn_it():
    feed = filled(10, limit_bytes=3 * ONE)
    assert numbers(feed.after(0)) == [8, 9, 10]
    assert numbers(feed.after(5)) == [8, 9, 10]
    assert feed.missed(5) == 2
    assert feed.missed(7) == feed.missed(10) == 0
    assert feed.missed(0) == 0  # a new reader has missed nothing


def test_an_unknown_number_starts_from_the_beginning():
    feed = filled(3)
    assert numbers(feed.after(99)) == [1, 2, 3]
    assert feed.missed(99) == 0


def test_the_last_batch_is_kept_however_large():
    assert numbers(filled(3, limit_bytes=1).after(0)) == [3]


async def ids(feed, last, count):
    """Return the next `count` numbers of batches that a page gets before it is disconnected."""
    found = []
    stream = events(feed, last)
    while len(found) < count:
        piece = await anext(stream, None)
        if piece is None:
            break
        found += [int(text[4:]) for text in piece.split(b"\n") if text.startswith(b"id: ")]
    await stream.aclose()
    return found[:count]


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(1, 30)), max_size=12))
def test_a_reconnecting_page_gets_each_batch_once_and_in_order(steps):
    """In each step some batches are added; then the page reconnects and is disconnected after at most so many."""

    async def watch():
        feed, had, total = Feed(), [], 0
        feed.add(SampleSource("x", 0))
        for added, taken in steps:
            for _ in range(added):
                total += 1
                feed.add(Batch(total))
            had += await ids(feed, had[-1] if had else 0, min(taken, total - len(had)))
        feed.add(End("over"))
        had += await ids(feed, had[-1] if had else 0, 10**6)
        assert had == list(range(1, total + 1))

    asyncio.run(watch())


def test_a_page_waits_for_batches_and_gets_missed_ones_and_the_end():
    async def watch():
        feed = Feed(3 * ONE)
        stream = events(feed, 2)
        pieces = [await anext(stream)]
        for number in range(1, 10):
            feed.add(Batch(number))
        asyncio.get_running_loop().call_soon(feed.add, SampleSource("x", 0))
        pieces += [await anext(stream) for _ in range(3)]
        asyncio.get_running_loop().call_soon(feed.add, End("over"))
        pieces += [piece async for piece in stream]
        return pieces

    retry, source, missed, batches, end = asyncio.run(watch())
    assert retry.startswith(b"retry: ")
    assert source == b'data: {"source":{"name":"x","zero_ns":0,"untraced":""}}\n\n'
    assert missed == b'data: {"missed": 4}\n\n'
    assert batches.startswith(b"id: 7\ndata: ")
    assert b'"over"' in end
