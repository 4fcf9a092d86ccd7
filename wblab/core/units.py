"""Sizes, rates and times: parse what people write into integers, and format it again.

K, M, G and T are powers of 1024, as in dd and mkfs; so are KiB, MiB, GiB and TiB. kB, MB, GB and TB are powers of
1000. A size without a unit is in bytes. A time needs a unit, unless it is zero.
"""

import re
from typing import NewType

from wblab.core.errors import InputError

Bytes = NewType("Bytes", int)
BytesPerSecond = NewType("BytesPerSecond", int)
Nanoseconds = NewType("Nanoseconds", int)

NS_PER_S = 1_000_000_000
NS_PER_MS = 1_000_000

_BINARY = {letter: 1024**power for power, letter in enumerate("KMGT", start=1)}
_DECIMAL = {letter: 1000**power for power, letter in enumerate("kMGT", start=1)}
_BYTES = (
    {"": 1, "B": 1, "k": 1024}
    | _BINARY
    | {f"{letter}iB": factor for letter, factor in _BINARY.items()}
    | {f"{letter}B": factor for letter, factor in _DECIMAL.items()}
)
_RATES = _BYTES | {f"{unit}/s": factor for unit, factor in _BYTES.items()}
_SUBSECONDS = {"ns": 1, "us": 10**3, "µs": 10**3, "ms": 10**6}
_NANOSECONDS = _SUBSECONDS | {"s": NS_PER_S, "min": 60 * NS_PER_S, "h": 3600 * NS_PER_S}
_NUMBER = re.compile(r"\s*(\d{1,18})(?:\.(\d{1,18}))?\s*([A-Za-zµ]*(?:/s)?)\s*")


def _scaled(text: str, factors: dict[str, int], examples: str) -> int:
    match = _NUMBER.fullmatch(text)
    if match is None or match[3] not in factors:
        raise InputError(f"{text!r} is not understood: write for example {examples}")
    decimals = match[2] or ""
    value, rest = divmod(int(match[1] + decimals) * factors[match[3]], int(f"1{'0' * len(decimals)}"))
    if rest:
        raise InputError(f"{text!r} is not a whole number of bytes or ns: write for example {examples}")
    return value


def parse_bytes(value: str | int) -> Bytes:
    """Return a size in bytes: '150M', '150 MiB', '4kB', 4096. Raises InputError."""
    return Bytes(_scaled(str(value), _BYTES, "150M, 64KiB or 4096"))


def parse_rate(value: str | int) -> BytesPerSecond:
    """Return a rate in bytes per second: '1MiB/s', '2M', 1048576. Raises InputError."""
    return BytesPerSecond(_scaled(str(value), _RATES, "1MiB/s or 2M"))


def parse_time(value: str | int) -> Nanoseconds:
    """Return a time in nanoseconds: '50ms', '5 s', '25us', 0. Raises InputError."""
    text = str(value).strip()
    return Nanoseconds(0 if text == "0" else _scaled(text, _NANOSECONDS, "50ms, 5s or 25us"))


def format_bytes(size: int) -> str:
    """Format a size exactly, in its largest whole unit: 157286400 -> '150 MiB', 5000 -> '5 kB', 5001 -> '5001 B'."""
    for factors, end in ((_BINARY, "iB"), (_DECIMAL, "B")):
        for letter, factor in reversed(factors.items()):
            if size and size % factor == 0:
                return f"{size // factor} {letter}{end}"
    return f"{size} B"


def format_time(time_ns: int) -> str:
    """Format a time exactly, in its largest whole unit: 50000000 -> '50 ms'."""
    for unit in ("s", "ms", "us"):
        if time_ns % _NANOSECONDS[unit] == 0:
            return f"{time_ns // _NANOSECONDS[unit]} {unit}"
    return f"{time_ns} ns"
