"""Whatever a file holds: a TraceError or columns, never another error, a hang, or much memory."""

import os
import struct
import zlib

import pytest
import tracecmd
from hypothesis import given, settings
from hypothesis import strategies as st
from support.smalltraces import (
    FORMATS,
    FORMS,
    OTHER,
    OTHER_FORMAT,
    PROBE,
    PROBE_FORMAT,
    SMALL,
    VALUES,
    probe_body,
    small_trace,
)
from support.traceread import at_most, read_all, survives
from support.tracewriter import Ring, TraceWriter, event_format
from tracecmd import TraceError, options

MIB = 1 << 20


def test_the_small_traces_are_sound(tmp_path):
    for form, content in SMALL.items():
        (tmp_path / "t").write_bytes(content)
        read_all(tmp_path / "t")
        with tracecmd.open(tmp_path / "t") as trace:
            assert trace.counts() == {"probe": 2, "other": 4}, form
            assert trace.events("probe").ts_ns.tolist() == [1005 * 3 // 2 + 10] * 2


@pytest.mark.parametrize("form", FORMS)
def test_cut_anywhere(tmp_path, form):
    content = SMALL[form]
    for size in [*range(400), *range(400, len(content), 37)]:
        survives(tmp_path / "t", content[:size])


@settings(max_examples=400)
@given(st.sampled_from(FORMS), st.data())
def test_bits_flipped(tmp_path_factory, form, data):
    content = bytearray(SMALL[form])
    for _ in range(data.draw(st.integers(min_value=1, max_value=4))):
        at = data.draw(st.integers(min_value=0, max_value=len(content) - 1))
        content[at] ^= 1 << data.draw(st.integers(min_value=0, max_value=7))
    survives(tmp_path_factory.getbasetemp() / "flipped", bytes(content))


@settings(max_examples=200)
@given(st.sampled_from(FORMS), st.data())
def test_words_replaced(tmp_path_factory, form, data):
    content = bytearray(SMALL[form])
    at = data.draw(st.integers(min_value=0, max_value=len(content) - 9))
    word = data.draw(st.sampled_from([b"\0" * 8, b"\xff" * 8, b"\xff" * 4, b"\0\0\0\x80", b"\xff\xff\xff\x7f"]))
    content[at : at + len(word)] = word
    survives(tmp_path_factory.getbasetemp() / "replaced", bytes(content))


@settings(max_examples=200)
@given(st.sampled_from(["none", "zlib"]), st.data())
def test_letters_of_formats_replaced(tmp_path_factory, compression, data):
    texts = [PROBE_FORMAT, OTHER_FORMAT]
    which = data.draw(st.sampled_from([0, 1]))
    at = data.draw(st.integers(min_value=0, max_value=len(texts[which]) - 1))
    letters = data.draw(st.text(alphabet=';:[]{}()"\n\t 0123456789²_achr', max_size=4))
    gone = data.draw(st.integers(min_value=0, max_value=8))
    texts[which] = texts[which][:at] + letters + texts[which][at + gone :]
    content = small_trace(7, compression, formats={"test": texts[:1], "ftrace": texts[1:]})
    survives(tmp_path_factory.getbasetemp() / "letters", content)


@settings(max_examples=100)
@given(st.binary(max_size=3000), st.sampled_from([b"", SMALL[7, "none"][:20], SMALL[6, "none"][:16]]))
def test_random_bytes(tmp_path_factory, content, head):
    survives(tmp_path_factory.getbasetemp() / "random", head + content)


@settings(max_examples=150)
@given(st.binary(min_size=1000, max_size=1000), st.sampled_from("<>"))
def test_random_page(tmp_path_factory, data, order):
    ring = Ring(order, page_bytes=1024)
    page = struct.pack(f"{order}QQ", 5, len(data)) + data + bytes(8)
    survives(tmp_path_factory.getbasetemp() / "page", small_trace(ring=ring, buffers={"": [[page]]}))


@pytest.mark.parametrize("compression", ["zlib", "zstd"])
def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path, compression):
    ring = Ring(page_bytes=1 << 22)
    bomb = small_trace(ring=ring, compression=compression, buffers={"": [[ring.page(0, [])] * 100]})
    assert len(bomb) < 6 * MIB
    (tmp_path / "t").write_bytes(bomb)
    with (
        at_most(64 * len(bomb) + 200 * MIB),
        pytest.raises(TraceError, match="unpacks to far more than its size"),
    ):
        read_all(tmp_path / "t")


def test_what_unpacks_to_another_size_than_it_says_is_damaged(tmp_path):
    class Liar(TraceWriter):
        def packed(self, content):
            return zlib.compress(content + b"more")

    (tmp_path / "t").write_bytes(Liar(compression="zlib", formats=FORMATS).encode())
    with pytest.raises(TraceError, match="another size"):
        read_all(tmp_path / "t")


def test_a_limit_can_be_raised(tmp_path):
    (tmp_path / "t").write_bytes(SMALL[7, "zlib"])
    with pytest.raises(TraceError, match="limit_bytes"):
        tracecmd.open(tmp_path / "t", limit_bytes=100).counts()
    assert tracecmd.open(tmp_path / "t", limit_bytes=MIB).counts()


def test_huge_counts_end_where_the_file_ends(tmp_path):
    content = bytearray(SMALL[6, "none"])
    at = content.index(b"header_event\0") + 13 + 8
    content[at : at + 4] = b"\xff\xff\xff\xff"
    (tmp_path / "t").write_bytes(content)
    with at_most(10 * MIB), pytest.raises(TraceError):
        read_all(tmp_path / "t")


def test_options_that_run_in_a_circle(tmp_path):
    content = bytearray(SMALL[7, "none"])
    first = content.index(b"none\0" + b"1.0\0") + 9
    content[-8:] = content[first : first + 8]
    (tmp_path / "t").write_bytes(content)
    with pytest.raises(TraceError, match="options form a loop"):
        tracecmd.open(tmp_path / "t")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"compression": "lzma"}, "compressed with 'lzma'; supported are zstd, zlib and none"),
        ({"version": 8}, "version '8'; supported are 6 and 7"),
        ({"options": [(options.TIME_SHIFT, bytes(16))]}, "time_shift"),
        ({"options": [(options.OFFSET, b"soon\0")]}, "'soon' is not a time"),
        ({"options": [(options.TSC2NSEC, struct.pack("<IIQ", 1, 99, 0))]}, "shift is 99 bits"),
        ({"formats": {"test": [PROBE_FORMAT]}}, "type 302, which has no format"),
        ({"ring": Ring(page_bytes=12)}, "pages would have 12 bytes"),
        ({"formats": {"test": ["name: x\nformat:\n"]}}, "no name or no ID"),
    ],
)
def test_what_is_refused_is_named(tmp_path, changes, message):
    if "compression" in changes:
        changes = changes | {"packed": lambda content: content}
    if changes.get("ring"):
        content = TraceWriter(changes["ring"], formats=FORMATS, buffers={"": []}).encode()
    elif "version" in changes:
        content = small_trace().replace(b"tracing7", b"tracing8")
    else:
        content = small_trace(**changes)
    (tmp_path / "t").write_bytes(content)
    with pytest.raises(TraceError, match=message):
        read_all_strictly(tmp_path / "t")


def read_all_strictly(path):
    with tracecmd.open(path) as trace:
        for name in trace.counts():
            trace.events(name).read()


def test_an_event_shorter_than_its_format(tmp_path):
    ring = Ring(page_bytes=1024)
    pages = [ring.page(0, [ring.data(0, ring.record(PROBE, 1, b"short"))])]
    (tmp_path / "t").write_bytes(small_trace(buffers={"": [pages]}))
    with pytest.raises(TraceError, match="'probe' has 16 bytes, its format 72"):
        read_all_strictly(tmp_path / "t")


def test_a_string_beyond_its_event(tmp_path):
    ring = Ring(page_bytes=1024)
    body = bytearray(probe_body(ring, VALUES))
    body[52:56] = struct.pack("<I", 60 | 900 << 16)
    pages = [ring.page(0, [ring.data(0, ring.record(PROBE, 1, bytes(body)))])]
    (tmp_path / "t").write_bytes(small_trace(buffers={"": [pages]}))
    with pytest.raises(TraceError, match="'text' extends beyond the end of its event"):
        read_all_strictly(tmp_path / "t")


def test_a_print_format_nested_deeply_is_no_crash(tmp_path):
    deep = event_format(
        "probe",
        PROBE,
        "u32 d 8 4 0",
        '"%s", __print_flags(REC->d, "|", { ' + "(" * 5000 + "1" + ")" * 5000 + ', "x" })',
    )
    wide = event_format(
        "other", OTHER, "u32 d 8 4 0", '"%s", __print_symbolic(REC->d, { ' + "|".join(["1"] * 5000) + ', "x" })'
    )
    (tmp_path / "t").write_bytes(small_trace(formats={"test": [deep, wide]}))
    trace = tracecmd.open(tmp_path / "t")
    for name in ("probe", "other"):
        with pytest.raises(TraceError):
            trace.events(name).decode("d")


def test_no_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        tracecmd.open(tmp_path / "none")
    os.mkfifo(tmp_path / "fifo")
    for path in (tmp_path, tmp_path / "fifo"):
        with pytest.raises(OSError, match="not a regular file"):
            tracecmd.open(path)
