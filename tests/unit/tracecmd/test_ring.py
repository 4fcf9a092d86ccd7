"""Each kind of entry, on pages of both byte orders, walked side by side and one after the other."""

import struct

import numpy as np
import pytest
import tracecmd
from hypothesis import given, settings
from hypothesis import strategies as st
from support.tracewriter import EXTEND, LOST, PADDING, SHORT, STAMP, Ring
from tracecmd import TraceError
from tracecmd import ring as walker
from tracecmd.formats import parse_fields

WHOLE = 1 << 64


@pytest.fixture(params=["<", ">"])
def ring(request):
    return Ring(request.param, page_bytes=512)


@pytest.fixture(params=[0, 1 << 30], ids=["side by side", "one by one"])
def walk(request, ring):
    """Return what walks pages: it gives the sizes and times of entries, and the losses."""

    def pages(*pages):
        layout = walker.PageLayout.of(parse_fields(ring.header_page(), ring.long_bytes), ring.order, ring.page_bytes)
        entries, losses = walker.walk(np.frombuffer(b"".join(pages), np.uint8), layout, few_pages=request.param)
        return list(zip(entries.sizes.tolist(), entries.times.tolist(), strict=True)), losses

    return pages


def test_data_of_all_lengths(ring, walk):
    lengths = [1, 4, 5, 111, 112, 113, 200]
    found, _ = walk(*[ring.page(10, [ring.data(2, b"x" * length), ring.data(1, b"abcd")]) for length in lengths])
    rounded = [length + -length % 4 for length in lengths]
    assert found == [item for size in rounded for item in ((size, 12), (4, 13))]


def test_a_short_event_may_be_written_as_a_long_one(ring, walk):
    entries = [ring.head(0, 3) + ring.word(8) + b"abcd", ring.head(0, 1) + ring.word(4), ring.data(1, b"abcd")]
    assert walk(ring.page(0, entries))[0] == [(4, 3), (0, 4), (4, 5)]


def test_discarded_entries_count_as_time_and_nothing_else(ring, walk):
    assert walk(ring.page(0, [ring.padding(5, 12), ring.padding(1, 4), ring.data(2, b"abcd")]))[0] == [(4, 8)]


def test_a_padded_end(ring, walk):
    page = ring.page(0, [ring.data(1, b"abcd"), ring.tail(), b"\xff" * 40])
    assert walk(page, ring.page(9, [ring.data(1, b"abcd")]))[0] == [(4, 1), (4, 10)]


def test_extended_times(ring, walk):
    delta = 3 << 40 | 5
    assert walk(ring.page(7, [ring.extend(delta), ring.data(1, b"abcd")]))[0] == [(4, delta + 8)]


@pytest.mark.parametrize(
    ("start", "stamp", "expected"),
    [
        (0, 1 << 58, 1 << 58),
        (5 << 59 | 7, 9, 5 << 59 | 9),  # the upper 5 bits stay
        (5 << 59 | 9, 7, 6 << 59 | 7),  # a stamp that is earlier: its lower bits ran over
        (9, 7, 7),  # without upper bits it is as it is
        (31 << 59 | 9, 7, 7),
    ],
)
def test_absolute_times(ring, walk, start, stamp, expected):
    page = ring.page(start, [ring.data(0, b"abcd"), ring.stamp(stamp), ring.data(1, b"abcd")])
    assert walk(page)[0] == [(4, start), (4, expected + 1)]


def test_an_absolute_time_at_the_beginning_of_a_page(ring, walk):
    pages = [ring.page(5 << 59 | 9, [ring.stamp(stamp), ring.data(1, b"abcd")]) for stamp in (7, 11)]
    assert [time for _, time in walk(pages[0])[0]] == [6 << 59 | 8]
    assert [time for _, time in walk(*pages)[0]] == [6 << 59 | 8, 5 << 59 | 12]


def test_times_run_over(ring, walk):
    page = ring.page(WHOLE - 2, [ring.data(1, b"abcd"), ring.data(2, b"abcd"), ring.stamp(5), ring.data(0, b"abcd")])
    assert walk(page)[0] == [(4, WHOLE - 1), (4, 1), (4, 5)]


def test_pages_of_different_lengths(ring, walk):
    counts = [0, 3, 1, 0, 40, 2]
    pages = [ring.page(100 * i, [ring.data(1, b"abcd")] * count) for i, count in enumerate(counts)]
    assert walk(*pages)[0] == [(4, 100 * i + k + 1) for i, count in enumerate(counts) for k in range(count)]
    assert walk()[0] == []


def test_lost_events(ring, walk):
    event = ring.data(1, b"abcd")
    full = [ring.data(1, b"x" * 112)] * 4 + [ring.data(0, b"x" * 24)]  # 4 * 116 + 28 of 496 bytes: no room for a count
    pages = [
        ring.page(1, [event], 12345678901),
        ring.page(2, [event]),
        ring.page(3, [event], -1),
        ring.page(4, full, -1),
        ring.page(5, [], 3),
    ]
    assert walk(*pages)[1] == [
        walker.Loss(0, 12345678901, 1),
        walker.Loss(2, -1, 3),
        walker.Loss(3, -1, 4),
        walker.Loss(4, 3, 5),
    ]


def test_a_loss_that_is_counted_where_there_is_no_room_for_the_count(ring, walk):
    page = bytearray(ring.page(4, [ring.data(1, b"x" * 112)] * 4 + [ring.data(0, b"x" * 24)]))
    used = (492 | LOST | 1 << 30).to_bytes(8, "little" if ring.order == "<" else "big")
    page[8:16] = used
    assert walk(bytes(page))[1] == [walker.Loss(0, -1, 4)]


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        (lambda ring: [ring.head(28, 1)], "beyond the end of its page"),
        (lambda ring: [ring.head(0, 1)], "cut off"),
        (lambda ring: [ring.head(30, 1)], "cut off"),
        (lambda ring: [ring.head(31, 1)], "cut off"),
        (lambda ring: [ring.head(29, 1)], "cut off"),
        (lambda ring: [ring.head(0, 1) + ring.word(3)], "negative data length"),
        (lambda ring: [ring.head(0, 1) + ring.word((1 << 32) - 1)], "beyond the end of its page"),
        (lambda ring: [ring.head(29, 1) + ring.word((1 << 32) - 1)], "beyond the end of its page"),
    ],
)
def test_entries_that_do_not_fit_their_page(ring, walk, entries, message):
    with pytest.raises(TraceError, match=message):
        walk(ring.page(0, entries(ring)), ring.page(0, [ring.data(1, b"abcd")]))


@pytest.mark.parametrize("used", [500, 3, 1 << 29])
def test_a_page_that_holds_more_than_it_can(ring, walk, used):
    page = bytearray(ring.page(0, []))
    page[8:16] = used.to_bytes(8, "little" if ring.order == "<" else "big")
    with pytest.raises(TraceError, match="more data than it can hold"):
        walk(bytes(page))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("timestamp", "time", "2.6.30"),
        ("offset:8;\tsize:8", "offset:8;\tsize:3", "no kernel writes"),
        ("offset:16;", "offset:17;", "no kernel writes"),
        ("offset:16;", "offset:12;", "no kernel writes"),
        ("offset:16;", "offset:1600;", "no kernel writes"),
    ],
)
def test_headers_of_pages_that_are_refused(old, new, message):
    described = Ring().header_page()
    assert old in described
    with pytest.raises(TraceError, match=message):
        walker.PageLayout.of(parse_fields(described.replace(old, new), 8), "<", 1024)


def walked_plainly(data, ring):
    """Return places, sizes and times as the kernel's source says, entry by entry; None for what no kernel writes."""
    found, words = [], np.frombuffer(data, f"{ring.order}u4").tolist()
    for first in range(0, len(words), ring.page_bytes // 4):
        time, used = struct.unpack_from(f"{ring.order}QQ", data, 4 * first)
        at, end = first + ring.data_at // 4, first + (ring.data_at + used) // 4
        while at < end:
            head = words[at]
            kind, delta = (head & 31, head >> 5) if ring.order == "<" else (head >> 27, head & (1 << 27) - 1)
            if kind == PADDING and not delta:
                break
            if not 0 < kind <= SHORT and at + 2 > end:
                return None
            second = words[at + 1] if at + 1 < len(words) else 0
            length, data_at, size = kind + 1, at + 1, 4 * kind
            if kind == 0:
                length, data_at, size = 1 + (second + 3) // 4, at + 2, (second + 3) // 4 * 4 - 4
            elif kind == PADDING:
                length = 1 + (second + 3) // 4
            elif kind in (EXTEND, STAMP):
                length, delta = 2, second << 27 | delta
            if at + length > end or (kind == 0 and second < 4):  # the length counts itself
                return None
            if kind == STAMP:
                high = time >> 59 << 59
                delta = (high | delta) + ((1 << 59) if high and high | delta < time else 0)
                time = 0
            time = (time + delta) % WHOLE
            if kind <= SHORT:
                found.append([data_at, size, time])
            at += length
    return found


heads = st.tuples(
    st.integers(0, 31), st.sampled_from([0, 1, 2, (1 << 27) - 1]), st.lists(st.integers(0, 20), max_size=3)
)


@settings(max_examples=150)
@given(
    st.sampled_from("<>"),
    st.sampled_from([5, (1 << 59) - 5, (3 << 59) + 5, WHOLE - 5]),
    st.lists(st.lists(heads, max_size=30), max_size=4),
)
def test_any_page_is_walked_as_the_kernel_says(order, start, pages):
    """The same entries, or all a TraceError. Ends of pages that follow let entries of any length end."""
    ring = Ring(order, page_bytes=512)
    layout = walker.PageLayout.of(parse_fields(ring.header_page(), 8), order, ring.page_bytes)
    data = b"".join(
        ring.page(
            start,
            [b"".join(ring.head(k, d) + b"".join(map(ring.word, w)) for k, d, w in page)[:360], ring.tail() * 30],
        )
        for page in pages
    )
    expected = walked_plainly(data, ring)
    for few in (0, 1 << 30):
        try:
            found, _ = walker.walk(np.frombuffer(data, np.uint8), layout, few_pages=few)
            assert [
                list(each) for each in zip(*(a.tolist() for a in (found.places, found.sizes, found.times)), strict=True)
            ] == expected
        except tracecmd.TraceError:
            assert expected is None
