import pytest
from support.tracewriter import event_format
from tracecmd import TraceError
from tracecmd.formats import parse_format


def fields(lines, long_bytes=8):
    return parse_format("test", event_format("x", 1, lines), long_bytes).by_name


def test_sizes_and_signs_are_those_of_the_format_not_of_the_type():
    found = fields("unsigned long a 8 4 1\nint b 12 8 0")
    assert (found["a"].size, found["a"].signed) == (4, True)
    assert (found["b"].size, found["b"].signed) == (8, False)


@pytest.mark.parametrize(
    ("line", "item_bytes", "is_text"),
    [
        ("char comm[16] 8 16 0", 1, True),
        ("const char name[4] 8 4 0", 1, True),
        ("u8 mac[6] 8 6 0", 1, False),
        ("unsigned long args[6] 8 48 0", 8, False),
        ("struct odd what[3] 8 12 0", 4, False),
        ("int many[NAMED] 8 12 1", 4, False),
        ("struct odd many[NAMED] 8 12 0", 0, False),
    ],
)
def test_arrays(line, item_bytes, is_text):
    found = fields(line)[line.split("[", maxsplit=1)[0].split()[-1]]
    assert (found.item_bytes, found.is_text, found.is_array) == (item_bytes, is_text, True)


@pytest.mark.parametrize(
    ("type_", "dynamic", "item_bytes", "is_text"),
    [
        ("__data_loc char[]", "data", 1, True),
        ("__rel_loc char[]", "rel", 1, True),
        ("__data_loc unsigned long[]", "data", 8, False),
        ("__data_loc cpumask_t[]", "data", 8, False),
        ("__data_loc struct odd[]", "data", 0, False),
    ],
)
def test_fields_that_say_where_their_value_is(type_, dynamic, item_bytes, is_text):
    found = fields(f"{type_} x 8 4 0")["x"]
    assert (found.dynamic, found.item_bytes, found.is_text) == (dynamic, item_bytes, is_text)


def test_a_long_of_a_kernel_of_32_bits():
    assert fields("unsigned long args[] 8 0 0", long_bytes=4)["args"].item_bytes == 4


def test_an_array_without_size_reaches_to_the_end():
    assert fields("char buf[] 16 0 0")["buf"].dynamic == "rest"


def test_least_length_leaves_out_an_array_at_the_end():
    assert (
        parse_format("t", event_format("x", 1, "int size 8 4 1\nunsigned long caller[8] 16 64 0"), 8).least_bytes == 16
    )
    assert parse_format("t", event_format("x", 1, "unsigned long a[8] 8 64 0\nint b 72 4 1"), 8).least_bytes == 76


@pytest.mark.parametrize(
    "text",
    ["", "name: x\n", "name: x\nID: 1\nformat:\n", "name: x\nID: 1\nformat:\n\tfield:int a;\toffset:x;\tsize:4;\n\n"],
)
def test_damaged(text):
    with pytest.raises(TraceError, match="damaged"):
        parse_format("test", text, 8)


def test_a_place_that_is_no_place():
    with pytest.raises(TraceError, match="has 8 bytes, not 4"):
        fields("__data_loc char[] x 8 8 0")
