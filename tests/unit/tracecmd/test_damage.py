"""Damage that chance does not find: what formats, tables and counts could say. Each gives columns or a TraceError.

What must end soon is large enough that looking at the same letters twice would take minutes.
"""

import itertools
import struct

import pytest
import tracecmd
from support.smalltraces import FORMATS, OTHER, OTHER_FORMAT, PROBE, PROBE_FORMAT, small_trace
from support.traceread import at_most, survives
from support.tracewriter import Ring, TraceWriter, event_format
from tracecmd import TraceError, options

MIB = 1 << 20
LONG = 1 << 20


def opened(tmp_path, content):
    (tmp_path / "t").write_bytes(content)
    return tracecmd.open(tmp_path / "t")


def with_probe(fields, print_format='""', number=PROBE):
    return small_trace(
        formats={"test": [event_format("probe", number, fields, print_format)], "ftrace": [OTHER_FORMAT]}
    )


def with_common_pid(declaration, size=4):
    line = "field:int common_pid;\toffset:4;\tsize:4;"
    assert line in PROBE_FORMAT
    return {"test": [PROBE_FORMAT.replace(line, f"field:{declaration};\toffset:4;\tsize:{size};")]}


@pytest.mark.parametrize(
    ("fields", "number"),
    [
        (f"u32 d {'1' * 5000} 4 0", PROBE),
        (f"u32 d 8 {'1' * 5000} 0", PROBE),
        ("u32 d 8 4 0", "3" * 5000),
        ("u32 d[ 8 4 0", PROBE),
        ("u32 d] 8 4 0", PROBE),
        ("? 8 4 0", PROBE),
    ],
)
def test_formats_that_are_refused(tmp_path, fields, number):
    with pytest.raises(TraceError, match="damaged"):
        dict(opened(tmp_path, with_probe(fields, number=number)).formats)


def test_a_damaged_format_hinders_its_own_events_only(tmp_path):
    damaged = event_format("probe", 303, "u32 d[ 8 4 0")
    trace = opened(tmp_path, small_trace(formats={**FORMATS, "more": [damaged]}))
    assert len(trace.events("other")) == trace.counts()["other"]
    assert "more:probe" in trace.formats
    with pytest.raises(TraceError, match="damaged"):
        trace.events("more:probe")


@pytest.mark.parametrize(
    "formats",
    [with_common_pid("int common_pid", 5), with_common_pid("int other"), with_common_pid("char common_pid[4]")],
)
def test_a_format_without_the_task_that_ran_is_refused(tmp_path, formats):
    with pytest.raises(TraceError, match="which task was running"):
        opened(tmp_path, small_trace(formats=formats)).counts()


@pytest.mark.parametrize(
    ("fields", "shape"),
    [
        ("u32 d[²] 8 4 0", (2, 1)),
        (f"u32 d[{'1' * 5000}] 8 4 0", (2, 1)),
        ("u32 d[N] 8 8 0", (2, 2)),
        ("u32 d[N] 8 7 0", (2,)),  # of 7 bytes: no whole items
    ],
)
def test_arrays_of_no_known_length_are_what_their_bytes_hold(tmp_path, fields, shape):
    events = opened(tmp_path, with_probe(fields)).events("probe").read()
    assert events["d"].shape == shape


@pytest.mark.parametrize(
    "fields",
    [
        "__data_loc char[] x 60 4 0",
        "__data_loc u32[] x 68 4 0",
        "int x[3] 48 12 1",
        "char x[8] 40 8 0",
        "struct odd x 48 12 1",
    ],
)
def test_only_numbers_have_names(tmp_path, fields):
    events = opened(tmp_path, with_probe(fields, '"%s", __print_symbolic(REC->x, { 1, "a" })')).events("probe")
    with pytest.raises(KeyError, match="has no names"):
        events.decode("x")


def test_the_pid_of_the_task_has_no_names_where_a_field_of_that_name_has(tmp_path):
    content = with_probe("int pid 16 4 1", '"%s", __print_symbolic(REC->pid, { 5, "five" })')
    events = opened(tmp_path, content).events("probe")
    assert set(events.decode("field_pid")) == {"five"}
    with pytest.raises(KeyError, match="has no names"):
        events.decode("pid")


@pytest.mark.parametrize("size", ["int size[2] 8 8 1", "int other 8 4 1"])
def test_a_stack_that_does_not_say_its_length(tmp_path, size):
    stack = event_format("kernel_stack", PROBE, f"{size}\nunsigned long caller[2] 16 16 0")
    events = opened(tmp_path, small_trace(formats={"ftrace": [OTHER_FORMAT, stack]})).events("kernel_stack").read()
    assert events["caller"].shape == (2, 2)


def test_names_of_tasks(tmp_path):
    lines = f"² x\n{'1' * 5000} x\n-1 x\n0 x\n99999999 x\n 7 with a blank\n8 \nx y\n9"
    assert opened(tmp_path, small_trace(cmdlines=lines)).comms == {0: "<idle>", 7: "with a blank", 8: ""}


@pytest.mark.parametrize("version", [6, 7])
def test_a_number_that_is_too_long(tmp_path, version):
    content = small_trace(version, options=[(options.CPUCOUNT, b"\xff" * 5000)])
    if version == 6:
        with pytest.raises(TraceError, match="it claims 18446744073709551615 CPUs"):
            opened(tmp_path, content)
    else:
        assert opened(tmp_path, content).info.options["cpu_count"] == b"\xff" * 5000


@pytest.mark.parametrize("version", [6, 7])
def test_a_buffer_without_events(tmp_path, version):
    trace = opened(tmp_path, small_trace(version, buffers={"": [[]]}))
    assert trace.counts() == {}
    assert trace.names == ()
    for name in ("probe", "other"):
        events = trace.events(name).read()
        assert len(events) == 0
        assert all(len(events[column]) == 0 for column in events)
    assert trace.events("probe").to_pandas().empty


def test_a_field_far_away_of_an_event_that_does_not_occur(tmp_path):
    far = event_format("far", 303, "u32 d 16000000 4 0\nchar text[8] 16000004 8 0\n__data_loc u32[] l 16000012 4 0")
    events = opened(tmp_path, small_trace(formats={**FORMATS, "far": [far]})).events("far").read()
    assert [len(events[name]) for name in ("d", "text", "l")] == [0, 0, 0]


HARD_TO_READ = {
    "fields that do not end": "name: probe\nID: 301\nformat:\n" + "field:" * (LONG // 6),
    "a field of one long word": event_format("probe", PROBE, "a" * LONG + "! x 8 4 0"),
    "a field of brackets": event_format("probe", PROBE, "a[" * (LONG // 2) + " x 8 4 0"),
    "a place of brackets": event_format("probe", PROBE, "__data_loc " + "a[" * (LONG // 2) + " x 8 4 0"),
    "blanks": event_format(
        "probe", PROBE, "u32 d 8 4 0", '"%s", __print_symbolic(REC->d, {' + " " * LONG + ', "x" , "y"})'
    ),
    "entries that do not end": event_format(
        "probe", PROBE, "u32 d 8 4 0", '"%s", __print_symbolic(REC->d, ' + "{ 1," * (LONG // 4) + ")"
    ),
    "calls that do not end": event_format("probe", PROBE, "u32 d 8 4 0", "__print_symbolic(" * (LONG // 17)),
    "calls in calls": event_format(
        "probe", PROBE, "u32 d 8 4 0", "__print_symbolic(REC->d, " * (LONG // 26) + ")" * (LONG // 26)
    ),
    "casts that do not end": event_format(
        "probe", PROBE, "u32 d 8 4 0", "__print_symbolic(REC->d, { " + "(a " * (LONG // 3) + ', "x" })'
    ),
    "a long operand": event_format(
        "probe", PROBE, "u32 d 8 4 0", "__print_symbolic(REC->d" + " + 1" * (LONG // 4) + ', { 1, "x" })'
    ),
    "many names": event_format(
        "probe", PROBE, "u32 d 8 4 0", '__print_flags(REC->d, "|"' + ', { 1, "x" }' * (LONG // 12) + ")"
    ),
}


@pytest.mark.parametrize("text", HARD_TO_READ.values(), ids=HARD_TO_READ.keys())
def test_texts_that_are_hard_to_read(tmp_path, text):
    survives(tmp_path / "t", small_trace(formats={"test": [text], "ftrace": [OTHER_FORMAT]}))


@pytest.mark.parametrize("numbers", [(1 << 20, 0), (0, 1 << 20), (70_000, 0)])
def test_more_formats_than_types(tmp_path, numbers):
    class Many(TraceWriter):
        def _formats(self):
            ftrace, systems = numbers
            empty = bytes(8 * ftrace), (b"s\0" + bytes(4)) * systems
            return self.pack("I", ftrace) + empty[0], self.pack("I", systems) + empty[1]

    with pytest.raises(TraceError, match="more formats or systems"):
        opened(tmp_path, Many(compression="zlib").encode())


def test_more_options_than_there_can_be(tmp_path):
    with pytest.raises(TraceError, match="more than 65536 options"):
        opened(tmp_path, TraceWriter(compression="zlib", options=[(99, b"")] * 70_000).encode())


def test_options_that_share_their_bytes_are_counted_each_time(tmp_path):
    """Sections of options, each with one option that reaches over all that follow."""
    count, shared = 2000, LONG
    head = TraceWriter().encode()[:27]  # up to the place of the first options
    start = len(head) + 8
    body = bytearray()
    for i in range(count):
        end = start + 38 * count + shared
        done = end + 14 * i
        here = start + 38 * i
        body += struct.pack("<HHIQ", 0, 0, 0, 0) + struct.pack("<HI", 99, done - here - 22) + bytes(16)
    body += bytes(shared)
    for i in range(count):
        body += struct.pack("<HIQ", 0, 8, start + 38 * (i + 1) if i + 1 < count else 0)
    (tmp_path / "t").write_bytes(head + struct.pack("<Q", start) + body)
    with at_most(300 * MIB), pytest.raises(TraceError, match="far more than its size"):
        tracecmd.open(tmp_path / "t")


@pytest.mark.parametrize("version", [6, 7])
def test_buffers_that_share_their_pages(tmp_path, version):
    ring = Ring()
    page = ring.page(0, [ring.data(1, ring.record(OTHER, 1))] * 100)
    given = {"": [[page] * 100], **{f"b{i}": [[]] for i in range(50)}}
    content = bytearray(TraceWriter(ring, version, formats=FORMATS, buffers=given).encode())
    at = content.index(page)
    place = struct.pack("<QQ", at, 100 * len(page))
    if version == 6:
        for table in itertools.islice(_all(content, b"flyrecord\0"), 51):
            content[table + 10 : table + 26] = place
    else:
        for each in _all(content, b"mono\0" + struct.pack("<II", 4096, 1)):
            content[each + 17 : each + 33] = place
    trace = opened(tmp_path, bytes(content))
    with pytest.raises(TraceError, match="more trace data than it has bytes"):
        trace.counts()


def _all(content, part):
    at = content.find(part)
    while at >= 0:
        yield at
        at = content.find(part, at + 1)


def test_tables_of_cpus_that_all_buffers_share(tmp_path):
    content = small_trace(6, options=[(options.BUFFER, bytes(8) + b"i\0")] * 300 + [(options.CPUCOUNT, b"\xff\0")])
    with pytest.raises(TraceError, match="it claims 255 CPUs"):
        opened(tmp_path, content)


def test_pages_that_are_mostly_to_be_completed(tmp_path):
    ring = Ring(page_bytes=1 << 23)
    content = TraceWriter(ring, 7, formats=FORMATS, buffers={"": [[]] * 100}).encode()
    count = struct.pack("<II", 1 << 23, 100)
    at = content.index(b"mono\0" + count) + 5 + len(count)
    places = b"".join(struct.pack("<IQQ", cpu, 0, 1) for cpu in range(100))
    trace = opened(tmp_path, content[:at] + places + content[at + len(places) :])
    with pytest.raises(TraceError, match="far more than its size"):
        trace.counts()


def test_a_large_pid_takes_no_large_table(tmp_path):
    ring = Ring(page_bytes=1024)
    pages = [ring.page(0, [ring.data(0, ring.record(OTHER, pid)) for pid in (1, 1 << 22, -1)])]
    trace = opened(tmp_path, small_trace(buffers={"": [pages]}))
    with at_most(MIB):
        assert trace.events("other").comm.tolist() == ["task", "<...>", "<...>"]


def test_a_text_is_unpacked_once(tmp_path):
    class Symbols(TraceWriter):
        def section(self, number, content):
            return super().section(number, self._sized("a" * MIB, "I") if number == options.KALLSYMS else content)

    trace = opened(tmp_path, Symbols(compression="zlib", formats=FORMATS).encode())
    assert {trace.text("kallsyms") for _ in range(200)} == {"a" * MIB}
    assert trace.text("printk") == ""


def test_closed(tmp_path):
    trace = opened(tmp_path, small_trace())
    trace.counts()
    trace.close()
    assert trace.counts() == {"probe": 2, "other": 4}
    assert trace.info.version == 7
    for late in (lambda: trace.counts("i"), lambda: trace.text("kallsyms")):
        with pytest.raises(TraceError, match="was closed before"):
            late()
