"""Sysctls of a spec, read as a person writes them and checked before anything boots.

The ranges are the kernel's: mm/page-writeback.c, fs/fs-writeback.c, mm/vmscan.c and admin-guide/sysctl/vm.rst of its
documentation.
What is not listed here is the kernel's to judge.
"""

from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any

from wblab.core.errors import InputError
from wblab.core.units import NS_PER_S, parse_bytes, parse_time

_INT_MAX, _LONG_MAX = 2**31 - 1, 2**63 - 1
_PAGE = 4096
# Writing one of a pair makes the kernel forget the other: dirty_bytes_handler and its like.
_TWINS = {
    f"vm.{stem}_{one}": f"vm.{stem}_{other}"
    for stem in ("dirty", "dirty_background")
    for one, other in (("bytes", "ratio"), ("ratio", "bytes"))
}


def _percent(text: str) -> int:
    return int(text.removesuffix("%").strip())


def _centiseconds(text: str) -> int:
    return int(text) if text.isdecimal() else round(parse_time(text) / NS_PER_S * 100)


def _seconds(text: str) -> int:
    return int(text) if text.isdecimal() else round(parse_time(text) / NS_PER_S)


@dataclass(frozen=True)
class _Range:
    """What a sysctl may be: a whole number from least to most, of a unit that `read` understands."""

    least: int
    most: int
    read: Callable[[str], int]
    example: str


_BYTES = _Range(2 * _PAGE, _LONG_MAX, parse_bytes, "8MiB")
_RATIO = _Range(0, 100, _percent, "20")
_TIME = _Range(0, _INT_MAX, _centiseconds, "500 or 5s")
_NUMBER = _Range(0, _INT_MAX, int, "1")
_KNOWN = {
    "vm.dirty_bytes": _BYTES,
    "vm.dirty_background_bytes": _Range(1, _LONG_MAX, parse_bytes, "4MiB"),
    "vm.dirty_ratio": _RATIO,
    "vm.dirty_background_ratio": _RATIO,
    "vm.dirty_expire_centisecs": _TIME,
    "vm.dirty_writeback_centisecs": _TIME,
    "vm.dirtytime_expire_seconds": _Range(0, _INT_MAX, _seconds, "43200 or 12h"),
    "vm.swappiness": _Range(0, 200, int, "60"),
    "vm.drop_caches": _Range(1, 4, int, "3"),
    "vm.laptop_mode": _NUMBER,
    "vm.min_free_kbytes": _NUMBER,
    "vm.vfs_cache_pressure": _NUMBER,
    "vm.page-cluster": _Range(0, 31, int, "3"),
    "vm.watermark_scale_factor": _Range(1, 3000, int, "10"),
    "vm.overcommit_memory": _Range(0, 2, int, "1"),
}


def sysctls(given: object, place: str) -> object:
    """Return a table of sysctls with the kernel's own numbers. Raises InputError for what the kernel would refuse."""
    if not isinstance(given, Mapping):
        return given  # the table's own check says so
    return {key: _number(key, value, f"{place}.{key}") for key, value in given.items()}


def _number(key: str, value: Any, place: str) -> Any:
    known = _KNOWN.get(key)
    if known is None or isinstance(value, bool) or not isinstance(value, int | str):
        return value
    try:
        number = value if isinstance(value, int) else known.read(value.strip())
    except (ValueError, InputError):
        raise InputError(f"{place}: {value!r} is not understood: write for example {known.example}") from None
    if number == 0 and key in _TWINS:
        return 0  # off: the other one of the pair is meant
    if not known.least <= number <= known.most:
        raise InputError(
            f"{place}: {value} is not between {known.least} and {known.most}: write for example {known.example}"
        )
    return number


def set_sysctl(table: MutableMapping[str, Any], key: str, value: object) -> None:
    """Set one sysctl of a table; as in the kernel, that ends what the other one of its pair had set."""
    table[key] = value
    if key in _TWINS and value not in (0, "0"):
        table.pop(_TWINS[key], None)


def check_pairs(settings: Mapping[str, object]) -> None:
    """Raise InputError where keys that are set together (sysctl.vm.dirty_bytes) would end each other."""
    for key, other in _TWINS.items():
        if settings.get(f"sysctl.{key}") and settings.get(f"sysctl.{other}"):
            raise InputError(f"sysctl: {key} and {other} exclude each other: keep one")
