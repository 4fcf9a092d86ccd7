"""What the writer writes, the reader reads: any values, any byte order, any kind of entry."""

from dataclasses import dataclass

import numpy as np
import pytest
import tracecmd
from hypothesis import given, settings
from hypothesis import strategies as st
from support.smalltraces import FORMATS, OTHER, PROBE, probe_body
from support.tracewriter import Ring, TraceWriter
from tracecmd import ring as walker
from tracecmd.buffers import LostEvents


def signed(bits):
    return st.integers(min_value=-(1 << bits - 1), max_value=(1 << bits - 1) - 1)


def unsigned(bits):
    return st.integers(min_value=0, max_value=(1 << bits) - 1)


words = st.text(alphabet=st.characters(min_codepoint=1, max_codepoint=0x2FF, exclude_categories=["Cs"]), max_size=12)
short_words = st.text(alphabet="abcdefgh", max_size=8)
probes = st.tuples(
    signed(8), unsigned(8), signed(16), unsigned(32), signed(32), unsigned(64), signed(64), short_words,
    st.tuples(signed(32), signed(32), signed(32)), words, words, st.lists(unsigned(32), max_size=5),
)  # fmt: skip
pids = st.integers(min_value=0, max_value=5)
deltas = st.integers(min_value=0, max_value=1 << 40)
steps = st.one_of(
    st.tuples(st.just("probe"), deltas, pids, probes),
    st.tuples(st.just("other"), deltas, pids, words),
    st.tuples(st.just("padding"), deltas, st.integers(min_value=0, max_value=64)),
    st.tuples(st.just("stamp"), deltas),
)
rings = st.builds(
    Ring, order=st.sampled_from("<>"), long_bytes=st.sampled_from([4, 8]), page_bytes=st.sampled_from([1024, 4096])
)


@dataclass
class Written:
    """Pages, and what the reader must find in them."""

    pages: list[bytes]
    events: list[tuple[str, int, int, object]]  # name, time, pid, values


def write(ring, start, steps):
    """Lay entries out on pages as the kernel does: a new page when one is full."""
    written = Written([], [])
    time, page_time, entries, size = start, start, [], 0
    for kind, delta, *rest in steps:
        time += delta
        if kind == "probe":
            pid, values = rest
            payload = ring.record(PROBE, pid, probe_body(ring, values))
        elif kind == "other":
            pid, values = rest
            payload = ring.record(OTHER, pid, values.encode() + b"\0")
        first, small = (b"", delta) if delta < 1 << 27 else (ring.extend(delta), 0)
        if kind == "stamp":
            entry = ring.stamp(time)
        elif kind == "padding":
            entry = first + ring.padding(small or 1, rest[0] // 4 * 4 + 4)
            time += (small or 1) - small
        else:
            entry = first + ring.data(small, payload)
        if size + len(entry) > ring.page_bytes - ring.data_at - 16:
            entries.append(ring.tail())
            written.pages.append(ring.page(page_time, entries))
            page_time, entries, size = time, [], 0
            if kind in ("stamp", "padding"):
                continue
            entry = ring.data(0, payload)
        entries.append(entry)
        size += len(entry)
        if kind in ("probe", "other"):
            written.events.append((kind, time, pid, values))
    written.pages.append(ring.page(page_time, entries))
    return written


def check(trace, buffer, cpus):
    """Compare what a buffer has of each event type with what was written, in the order of time."""
    for name in ("probe", "other"):
        wanted = [(time, cpu, pid, values) for cpu, written in enumerate(cpus)
                  for kind, time, pid, values in written.events if kind == name]  # fmt: skip
        wanted.sort(key=lambda item: item[0])
        events = trace.events(name, buffer=buffer).read()
        assert events.ts_ns.tolist() == [time for time, *_ in wanted]
        assert events.cpu.tolist() == [cpu for _, cpu, *_ in wanted]
        assert events.pid.tolist() == [pid for _, _, pid, _ in wanted]
        assert events.comm.tolist() == [
            {0: "<idle>", 1: "one", 2: "a name"}.get(pid, "<...>") for _, _, pid, _ in wanted
        ]
        rows = [values for *_, values in wanted]
        if name == "other":
            assert events["rest"].tolist() == rows
            continue
        for column, values in zip("abcdefg", list(zip(*rows, strict=True))[:7], strict=False):
            assert events[column].tolist() == list(values)
        assert events["name"].tolist() == [row[7] for row in rows]
        assert [tuple(row) for row in events["row"].tolist()] == [row[8] for row in rows]
        assert events["text"].tolist() == [row[9] for row in rows]
        assert events["more"].tolist() == [row[10] for row in rows]
        assert [row.tolist() for row in events["numbers"]] == [row[11] for row in rows]


@settings(max_examples=120)
@given(
    rings,
    st.sampled_from([(6, "none"), (7, "none"), (7, "zlib"), (7, "zstd")]),
    st.lists(st.lists(st.lists(steps, max_size=40), min_size=1, max_size=3), min_size=1, max_size=2),
    st.sampled_from([0, 5 * 10**12, 7 << 59]),
)
def test_what_is_written_is_read(tmp_path_factory, ring, form, buffers, start):
    path = tmp_path_factory.mktemp("trace") / "trace.dat"
    written = {
        name: [write(ring, start, each) for each in cpus] for name, cpus in zip(["", "inst"], buffers, strict=False)
    }
    version, compression = form
    pages = {name: [cpu.pages for cpu in cpus] for name, cpus in written.items()}
    content = TraceWriter(ring, version, compression, FORMATS, "1 one\n2 a name\n", "mono", [], pages).encode()
    path.write_bytes(content)
    with tracecmd.open(path) as trace:
        assert trace.info.buffers == tuple(pages)
        assert trace.info.byte_order == {"<": "little", ">": "big"}[ring.order]
        assert trace.info.long_bytes == ring.long_bytes
        assert trace.lost == ()
        for name, cpus in written.items():
            if start < 1 << 62:  # later times are negative: they sort, but not as they were written
                check(trace, name, cpus)


@given(st.sampled_from("<>"), st.lists(st.lists(steps, max_size=30), min_size=2, max_size=5), st.booleans())
def test_side_by_side_or_one_after_the_other_is_the_same(order, pages, high):
    ring = Ring(order)
    start = (3 << 59) + 7 if high else 7
    data = b"".join(b"".join(write(ring, start, each).pages) for each in pages)
    layout = walker.PageLayout.of(tracecmd.formats.parse_fields(ring.header_page(), 8), order, ring.page_bytes)
    array = np.frombuffer(data, np.uint8)
    together, _ = walker.walk(array, layout, few_pages=0)
    batched, _ = walker.walk(array, layout, batch_pages=2, few_pages=0)
    alone, _ = walker.walk(array, layout, few_pages=1 << 30)
    for name in ("places", "sizes", "times"):
        assert getattr(together, name).tolist() == getattr(alone, name).tolist() == getattr(batched, name).tolist()


@pytest.mark.parametrize("version", [6, 7])
@pytest.mark.parametrize("order", "<>")
def test_lost_events_are_spans(tmp_path, order, version):
    ring = Ring(order)
    event = ring.data(5, ring.record(OTHER, 1, b"x\0"))
    pages = [
        ring.page(100, [event, event], lost=7),
        ring.page(200, [event], lost=-1),
        ring.page(300, [event]),
        ring.page(400, [event], lost=9),
    ]
    path = tmp_path / "trace.dat"
    path.write_bytes(TraceWriter(ring, version, formats=FORMATS, buffers={"": [pages]}).encode())
    with tracecmd.open(path) as trace:
        assert trace.lost == (
            LostEvents("", 0, 100, 100, 7),
            LostEvents("", 0, 110, 200, -1),
            LostEvents("", 0, 305, 400, 9),
        )
