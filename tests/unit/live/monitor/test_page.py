"""The page in a headless Chromium."""

import asyncio
import json
from contextlib import asynccontextmanager, suppress

from support.browser import browser

from wblab.core.loads import MultiWrite, Offender
from wblab.live.monitor.samples import (
    Batch,
    CacheState,
    End,
    Pressure,
    SampleSource,
    Throttled,
    Waited,
    Worked,
    WrittenSample,
)
from wblab.live.monitor.server import address, listen, serve
from wblab.plot.style import load_colours, look, on_dark

MS = 10**6
S = 1000 * MS
MIB = 1 << 20
ZERO_NS = 10_000 * S
LOADS = {"l1": Offender, "mw1": MultiWrite}


def batch(number):
    """Return the samples of one tenth of a second; with every twentieth begins a write that takes a second."""
    now_ns = ZERO_NS + number * 100 * MS
    since_ns = now_ns - (number % 20) * 100 * MS
    return Batch(
        now_ns,
        states=(CacheState(now_ns, number * MIB, 2 * MIB, 100 * MIB, 200 * MIB, None if number % 3 else 250 * MIB),),
        throttled=(Throttled(now_ns, "l1", 200 * MS, "slow"), Throttled(now_ns + 1000, "mw1", 10 * MS)),
        waits=(Waited("probe", since_ns, now_ns, over=number % 20 == 10),) if number % 20 <= 10 else (),
        pressures=(Pressure(now_ns, 100 * MS, 120 * MS, 40 * MS),),
        writers=(WrittenSample(now_ns, S, f"task {number // 10 % 12}", MIB),) if number % 10 == 0 else (),
        disks=(Worked(now_ns, S, f"sd{'abcde'[number // 10 % 5]}", MIB, S // 2),) if number % 10 == 0 else (),
        lost=int(number == 5),
    )


class Scripted:
    """A source that produces items on the test's command."""

    def __init__(self):
        self.queue = asyncio.Queue()
        self.sent = 0

    def tell(self, count):
        for _ in range(count):
            self.sent += 1
            self.queue.put_nowait(batch(self.sent))

    async def items(self):
        while True:
            yield await self.queue.get()


class Wire:
    """A connection to the server that can be cut and restored."""

    def __init__(self, port):
        self.port = port
        self.is_cut = False
        self.connections = set()

    async def carry(self, reader, writer):
        if self.is_cut:
            writer.transport.abort()
            return
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self.port)
        ends = {writer, far_writer}
        self.connections |= ends
        with suppress(OSError):
            await asyncio.gather(pump(reader, far_writer), pump(far_reader, writer))
        for each in ends:
            each.transport.abort()
        self.connections -= ends

    def cut(self):
        self.is_cut = True
        for each in self.connections:
            each.transport.abort()


async def pump(reader, writer):
    while chunk := await reader.read(65536):
        writer.write(chunk)
        await writer.drain()
    writer.write_eof()


@asynccontextmanager
async def watched():
    """Yield a source, the connection to its server, and a page that shows it."""
    source, listening = Scripted(), listen(0)
    wire = Wire(listening.getsockname()[1])
    task = asyncio.create_task(serve(source.items(), listening, "token", look(LOADS)))
    near = await asyncio.start_server(wire.carry, "127.0.0.1", 0)
    try:
        async with browser(address(near.sockets[0], "token")) as page:
            yield source, wire, page
    finally:
        wire.cut()
        near.close()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


STATE = "document.getElementById('state').className"
NOTES = "document.getElementById('notes').textContent"
HEARD = "(window.monitor?.store?.state.x.length ?? 0)"
SHOWN = "Object.fromEntries(monitor.panes.all.filter(p => !p.root.hidden).map(p => [p.key, p.plot.data[0].length]))"
STROKES = "Object.fromEntries(monitor.panes.all[1].plot.series.slice(1).map(s => [s.label, s.stroke()]))"
OTHERS = "monitor.panes.all[4].plot.series.slice(1).map(s => s.stroke())"
DISK_COLOURS = "monitor.panes.all[5].plot.series.slice(1).map(s => s.stroke())"
HEADS = "[...document.querySelectorAll('h1, h2')].map(head => head.tagName)"
COLON = "getComputedStyle(document.querySelector('.u-legend th'), '::after').content"
DARK = {"name": "prefers-color-scheme", "value": "dark"}
LABELS = "Object.fromEntries(monitor.panes.all.map(p => [p.key, p.plot.series.slice(1).map(s => s.label)]))"


def test_the_page_draws_samples_and_shows_its_state():
    async def look_at_it():
        async with watched() as (source, _, page):
            await page.until(f"{STATE} === 'connecting'")
            source.queue.put_nowait(SampleSource("a test", ZERO_NS, "only root may trace"))
            source.tell(150)
            await page.until(f"{HEARD} === 150 && {STATE} === 'live'")
            await page.until("monitor.panes.all[0].plot.data[0].length === 150")
            assert await page.value("document.getElementById('source').textContent") == "a test"
            notes = await page.value(NOTES)
            assert notes.startswith(
                "No kernel events (only root may trace): the dirty limit and throttling are missing."
            )
            assert notes.endswith(" The kernel dropped 1 events.")
            shown = await page.value(SHOWN)
            assert set(shown) == {"state", "throttled", "waits", "pressure", "writers", "disks", "busy"}
            assert all(count > 10 for count in shown.values())
            labels = await page.value(LABELS)
            assert labels["throttled"] == ["l1 (slow)", "mw1"]
            colours = load_colours(LOADS)  # as in its timeline, independent of the disks
            assert await page.value(STROKES) == {"l1 (slow)": colours["l1"], "mw1": colours["mw1"]}
            assert await page.value(HEADS) == ["H1", *["H2"] * 7]
            assert await page.value(COLON) == "none"
            await page.call("Emulation.setEmulatedMedia", features=[DARK])
            dark = {"l1 (slow)": on_dark(colours["l1"]), "mw1": on_dark(colours["mw1"])}
            await page.until(f"JSON.stringify({STROKES}) === '{json.dumps(dark, separators=(',', ':'))}'")
            await page.call("Emulation.setEmulatedMedia", features=[])
            await page.until(f"{STROKES}['l1 (slow)'] === '{colours['l1']}'")
            assert not set(load_colours(LOADS).values()) & set(await page.value(OTHERS))
            assert len(labels["writers"]) == 6  # the largest of twelve
            assert len(labels["disks"]) == len(labels["busy"]) == 4  # of five
            assert len(set(await page.value(DISK_COLOURS))) == 4
            waits = await page.value("monitor.panes.all[2].plot.data.map(column => Math.max(...column))")
            assert waits[1] == 1.0  # the longest write
            assert await page.value("Math.max(...monitor.panes.all[3].plot.data[1])") == 100
            await page.until(f"{STATE} === 'silent'")
            source.tell(1)
            await page.until(f"{STATE} === 'live'")
            source.queue.put_nowait(End("the run is over"))
            await page.until(f"{STATE} === 'ended' && {NOTES}.endsWith('No more samples: the run is over.')")
            assert page.troubles == []

    asyncio.run(look_at_it())


def test_a_disconnected_page_catches_up_without_duplicates():
    async def look_at_it():
        async with watched() as (source, wire, page):
            source.queue.put_nowait(SampleSource("a test", ZERO_NS))
            for _ in range(3):
                source.tell(20)
                await page.until(f"{HEARD} === {source.sent} && {STATE} === 'live'")
                wire.cut()
                await page.until(f"{STATE} === 'reconnecting'")
                source.tell(30)
                wire.is_cut = False
                await page.until(f"{HEARD} >= {source.sent}")
            times = await page.value("monitor.store.state.x.map(each => Math.round(each * 10))")
            assert times == list(range(1, source.sent + 1))
            waits = await page.value("monitor.store.waits.get('probe').x")
            assert waits == sorted(set(waits))
            assert await page.value(NOTES) == "The kernel dropped 1 events."

    asyncio.run(look_at_it())


def test_a_page_can_pause_and_zoom_to_a_span():
    async def look_at_it():
        async with watched() as (source, _, page):
            source.queue.put_nowait(SampleSource("a test", ZERO_NS))
            source.tell(1000)
            await page.until(f"{HEARD} === 1000")
            span = "(({min, max}) => [min, max])(monitor.panes.all[0].plot.scales.x)"
            await page.until(f"JSON.stringify({span}) === '[40,100]'")
            await page.value("document.querySelector('[data-seconds=\"30\"]').click()")
            await page.until(f"JSON.stringify({span}) === '[70,100]'")
            await page.value("document.getElementById('hold').click()")
            source.tell(10)
            await page.until(f"{HEARD} === 1010")
            assert await page.value(span) == [70, 100]
            await page.value("document.getElementById('hold').click()")
            await page.until(f"JSON.stringify({span}) === '[71,101]'")
            await page.value("document.querySelector('[data-seconds=Infinity]').click()")
            await page.until(f"{span}[0] === 0.1 && {span}[1] === 101")
            assert page.troubles == []

    asyncio.run(look_at_it())


def test_spans_without_writes_are_drawn_empty():
    async def look_at_it():
        async with watched() as (source, _, page):
            source.queue.put_nowait(SampleSource("a test", ZERO_NS))
            for second in (1, 2, 6):
                now_ns = ZERO_NS + second * S
                writers, disks = (WrittenSample(now_ns, S, "dd", MIB, "sda"),), (Worked(now_ns, S, "sda", MIB, S),)
                source.queue.put_nowait(Batch(now_ns, writers=writers, disks=disks))
            await page.until("(window.monitor?.store?.writers.x.length ?? 0) === 4")
            for key, name in (("writers", "dd (sda)"), ("disks", "sda"), ("busy", "sda")):
                assert await page.value(f"monitor.store.{key}.x") == [1, 2, 5, 6]
                values = await page.value(f"monitor.store.{key}.named.get('{name}')")
                assert [bool(value) for value in values] == [True, True, False, True]

    asyncio.run(look_at_it())


# Possible names of a process; the kernel keeps 15 bytes, but a page should accept any length.
NAMES = [
    "<img src=x onerror=owned=1>",
    "<svg onload=owned=1>",
    "'\"><script>owned=1</script>",
    "__proto__",
    "constructor",
    "a\n\ndata: {}\r\nid: 7\u2028",
]


def test_process_names_are_shown_as_plain_text():
    async def look_at_it():
        async with watched() as (source, _, page):
            source.queue.put_nowait(SampleSource(NAMES[0], ZERO_NS, NAMES[1]))
            for number, name in enumerate(NAMES, 1):
                now_ns = ZERO_NS + number * S
                others = (WrittenSample(now_ns, S, name, 2 * MIB, ""), WrittenSample(now_ns, S, "other", MIB))
                waits = (Waited(name, now_ns - S, now_ns, over=True),)
                throttled = (Throttled(now_ns, "other", MS), Throttled(now_ns + MS, name, 200 * MS))
                source.queue.put_nowait(Batch(now_ns, throttled=throttled, waits=waits, writers=others))
            await page.until("(window.monitor?.store?.writers.x.length ?? 0) === 6")
            await page.until("monitor.panes.all[4].plot.data[0].length === 6")
            assert await page.value("typeof owned") == "undefined"
            assert await page.value("document.querySelectorAll('img, svg, script:not([src])').length") == 0
            assert await page.value("document.getElementById('source').textContent") == NAMES[0]
            labels = await page.value(LABELS)
            assert set(labels["throttled"]) == set(labels["waits"]) == set(NAMES)
            assert {"__proto__", "constructor", "other"} < set(labels["writers"])  # six of seven
            columns = "monitor.panes.all.flatMap(pane => pane.plot.data).flatMap(column => [...column])"
            assert await page.value(f"{columns}.every(each => each == null || typeof each === 'number')")
            assert page.troubles == []

    asyncio.run(look_at_it())
