from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wblab.core.errors import InputError
from wblab.core.units import format_bytes, format_time, parse_bytes, parse_rate, parse_time


@pytest.mark.parametrize(
    ("text", "size"),
    [
        (4096, 4096),
        ("0", 0),
        ("4096", 4096),
        ("7B", 7),
        *((f"3{letter}", 3 * 1024**power) for power, letter in enumerate("KMGT", start=1)),
        *((f"3{letter}iB", 3 * 1024**power) for power, letter in enumerate("KMGT", start=1)),
        *((f"3{letter}B", 3 * 1000**power) for power, letter in enumerate("kMGT", start=1)),
        ("3k", 3072),
        ("1.5K", 1536),
        ("0.5GiB", 1 << 29),
        (" 150 MiB ", 150 << 20),
    ],
)
def test_a_size_is_read_with_its_unit(text, size):
    assert parse_bytes(text) == size


@pytest.mark.parametrize(("text", "rate"), [("1MiB/s", 1 << 20), ("2M", 2 << 20), ("1kB/s", 1000), (1048576, 1 << 20)])
def test_a_rate_is_read_with_its_unit(text, rate):
    assert parse_rate(text) == rate


@pytest.mark.parametrize(
    ("text", "time_ns"),
    [
        (0, 0),
        ("0", 0),
        ("0s", 0),
        ("7ns", 7),
        ("25us", 25_000),
        ("25µs", 25_000),
        ("50ms", 50_000_000),
        ("5 s", 5 * 10**9),
        ("2min", 120 * 10**9),
        ("1h", 3600 * 10**9),
        ("0.5s", 5 * 10**8),
    ],
)
def test_a_time_is_read_with_its_unit(text, time_ns):
    assert parse_time(text) == time_ns


@pytest.mark.parametrize(
    ("parse", "text"),
    [
        *((parse_bytes, text) for text in ("", "M", "-1", "1.5", "1,5M", "1e3", "5X", "5 s", "1MiB/s", "5m", "1 M B")),
        *((parse_rate, text) for text in ("", "/s", "1MiB/s/s", "1M/min", "-1M", "1MiB per s")),
        *((parse_time, text) for text in ("", "5", "5S", "s", "-5s", "5M", "1.5ns", "inf", "1s 5ms")),
        (parse_bytes, "9" * 5000),
        (parse_bytes, "1." + "0" * 5000),
    ],
)
def test_an_invalid_quantity_is_refused_with_an_example(parse, text):
    with pytest.raises(InputError) as raised:
        parse(text)
    assert repr(text) in str(raised.value)
    example = str(raised.value).partition("for example ")[2].split(",")[0].split(" or ")[0]
    assert parse(example) > 0


@settings(deadline=None)
@given(st.integers(0, 10**18 - 1))
def test_a_size_survives_being_written_and_read(size):
    assert parse_bytes(format_bytes(size)) == size
    assert parse_rate(f"{format_bytes(size)}/s") == size


@settings(deadline=None)
@given(st.integers(0, 10**18 - 1))
def test_a_time_survives_being_written_and_read(time_ns):
    assert parse_time(format_time(time_ns)) == time_ns


@settings(deadline=None)
@given(st.text(max_size=12))
def test_any_text_is_a_number_or_an_input_error(text):
    for parse in (parse_bytes, parse_rate, parse_time):
        with suppress(InputError):
            assert parse(text) >= 0


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (1000, "1 kB"),
        (10**7, "10 MB"),
        (1001, "1001 B"),
        (1536, "1536 B"),
        (150 << 20, "150 MiB"),
        (1 << 40, "1 TiB"),
    ],
)
def test_a_size_is_written_exactly(size, text):
    assert format_bytes(size) == text


@pytest.mark.parametrize(("time_ns", "text"), [(0, "0 s"), (1, "1 ns"), (1500, "1500 ns"), (5 * 10**7, "50 ms")])
def test_a_time_is_written_exactly(time_ns, text):
    assert format_time(time_ns) == text
