"""Amounts of dirty memory or queued data in a remedy: absolute, or relative to the disk's rate or the memory."""

import re

from wblab.core.errors import InputError
from wblab.core.units import NS_PER_S, parse_bytes, parse_time
from wblab.study.designs.twin.machine import Machine

_MIB, _PAGE_BYTES = 1 << 20, 4096
_SHARE = re.compile(r"(\d{1,3}(?:\.\d{1,3})?) ?%")
_OF_LIMIT = " of the limit"
_TIME = re.compile(r".*[0-9 ](ns|us|µs|ms|s|min|h)")


def share(text: str) -> float | None:
    """Return '5%' as 0.05; None if the text is not a percentage. Raises InputError outside 0 to 100 %."""
    match = _SHARE.fullmatch(text.strip())
    if match is None:
        return None
    if not 0 < float(match[1]) <= 100:
        raise InputError(f"{text!r} is not a percentage above 0 and up to 100 %")
    return float(match[1]) / 100


def in_bytes(text: str, machine: Machine) -> int:
    """Return an amount in bytes: '500ms' at the disk's write rate, '5%' of the memory, or '64MiB'.

    '5% of the limit' is relative to the dirty threshold, in whole pages. Other computed amounts are rounded to whole
    MiB, or below 4 MiB to whole pages: measurements are no more exact. Raises InputError.
    """
    text = text.strip()
    if text.endswith(_OF_LIMIT) and (part := share(text.removesuffix(_OF_LIMIT))) is not None:
        return int(part * machine.dirty_bytes) // _PAGE_BYTES * _PAGE_BYTES
    if (part := share(text)) is not None:
        return _rounded(int(part * machine.memory_bytes))
    if _TIME.fullmatch(text):
        return _rounded(parse_time(text) * machine.write_bps // NS_PER_S)
    try:
        return parse_bytes(text)
    except InputError:
        raise InputError(
            f"{text!r} is not an amount: write for example 500ms of the disk, 5% of memory, 5% of the limit, or 64MiB"
        ) from None


def _rounded(size: int) -> int:
    grain = _MIB if size >= 4 * _MIB else _PAGE_BYTES
    return size // grain * grain
