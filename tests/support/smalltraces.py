"""Small traces with two event types: one with a field of every kind, one whose rest is text."""

import struct

from tracecmd import options

from .tracewriter import Ring, TraceWriter, event_format

PROBE, OTHER = 301, 302
PROBE_FORMAT = event_format(
    "probe",
    PROBE,
    """
    signed char a 8 1 1
    unsigned char b 9 1 0
    short c 10 2 1
    u32 d 12 4 0
    int e 16 4 1
    u64 f 24 8 0
    s64 g 32 8 1
    char name[8] 40 8 0
    int row[3] 48 12 1
    __data_loc char[] text 60 4 0
    __rel_loc char[] more 64 4 0
    __data_loc u32[] numbers 68 4 0
    """,
)
OTHER_FORMAT = event_format("other", OTHER, "char rest[] 8 0 0")
FORMATS = {"test": [PROBE_FORMAT], "ftrace": [OTHER_FORMAT]}
STATIC_BYTES = 72
VALUES = (1, 2, 3, 4, 5, 6, 7, "name", (1, 2, 3), "text", "more", [1, 2])
FORMS = [(6, "none"), (7, "none"), (7, "zlib"), (7, "zstd")]


def probe_body(ring, values):
    *numbers, name, row, text, more, items = values
    place, order = STATIC_BYTES, ring.order
    texts = []
    for word in (text, more):
        data = word.encode() + b"\0"
        texts.append((place, data))
        place += len(data)
    place += -place % 4
    tail = struct.pack(f"{order}{len(items)}I", *items)
    body = struct.pack(f"{order}bBhIi4xQq8s3i", *numbers, name.encode(), *row)
    (text_at, text_data), (more_at, more_data) = texts
    body += struct.pack(
        f"{order}III", text_at | len(text_data) << 16, (more_at - 68) | len(more_data) << 16, place | len(tail) << 16
    )
    joined = text_data + more_data
    return body + joined + bytes(place - STATIC_BYTES - len(joined)) + tail


def small_trace(version=7, compression="none", **changes):
    ring = changes.pop("ring", Ring(page_bytes=1024))
    probe = ring.data(5, ring.record(PROBE, 1, probe_body(ring, VALUES)))
    other = ring.data(3, ring.record(OTHER, 1, b"text\0"))
    pages = [
        ring.page(1000, [probe, ring.extend(9), other, ring.padding(1, 8)]),
        ring.page(2000, [ring.stamp(2100), other], 3),
    ]
    given_options = [
        (options.OFFSET, b"10\0"),
        (options.TSC2NSEC, struct.pack(f"{ring.order}IIQ", 3, 1, 0)),
        (99, b"new"),
    ]
    writer = TraceWriter(
        ring,
        version,
        compression,
        FORMATS,
        "1 task\n",
        options=given_options,
        buffers={"": [pages, pages], "i": [pages]},
    )
    for name, value in changes.items():
        setattr(writer, name, value)
    return writer.encode()


SMALL = {form: small_trace(*form) for form in FORMS}
