"""A measured disk as a file like those of experiments/disks, which `--disk` takes."""

import json
from collections.abc import Mapping
from math import inf
from typing import Any

from wblab import __version__
from wblab.lab.printable import printable
from wblab.live.disks.fit import AS_PREDICTED, Fit
from wblab.live.disks.survey import Site, Survey
from wblab.report.quantities import percent

_DIGITS = 4  # of a measured figure
_MOST_NS, _MOST_BYTES = 2**32 - 1, 2**32 - 1  # wblab/core/diskcheck.py
_PLACE = 27  # column at which remarks begin


def disk_table(fit: Fit, of_queue: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the table [disk] of a model, each quantity rounded to the measurement's precision.

    of_queue: what the table has of the disk's queue (`Site.of_queue`).
    """
    model = fit.model
    return {
        "model": "device",
        **(of_queue or {}),
        "write_bps": rate(model.write_bps),
        "read_bps": rate(model.read_bps),
        "latency": duration(model.latency_s),
        "seek_time": duration(model.seek_s),
        "depth": model.depth,
        "stall_every": size(model.stall_every),
        "stall_time": duration(model.stall_s) if model.stall_every else "0",
        "stalls": "even" if model.is_even or not model.stall_every else "random",
        "cache_bytes": size(model.cache_bytes),
        "drain_bps": rate(model.drain_bps) if model.cache_bytes else 0,
        "erase_block": size(model.erase_block),
        "open_blocks": model.open_blocks,
        "burst_bytes": size(model.burst_bytes),
        "sustained_bps": rate(model.sustained_bps) if model.burst_bytes else 0,
        "iops": round(model.iops) if model.iops < inf else 0,
    }


def disk_file(found: Fit, survey: Survey, site: Site, date: str) -> str:
    """Return the content of the file. date: of the measurement, as 2026-11-22."""
    share, within = percent(found.explained), percent(AS_PREDICTED)
    about: Mapping[str, object] = {
        "disk": printable(site.disk_name),
        "date": date,
        "wblab": __version__,
        "filesystem": printable(site.place.filesystem),
        "direct": survey.is_direct,
        "explained": round(found.explained, 3),
        "notes": [printable(note) for note in survey.notes],
    }
    lines = [
        f"# {printable(site.disk_name)}, measured on {date} by wblab {__version__} (wblab disk measure).",
        f"# The model explains {share} of the request times to within {within}; each kind counts equally.",
        *(f"# {printable(note)}" for note in survey.notes),
        "",
        "[disk]",
    ]
    for key, value in disk_table(found, site.of_queue()).items():
        remark = found.unknown.get(key, "")
        line = f"{key} = {_toml(value)}"
        lines.append(f"{line:{_PLACE}} # {remark}" if remark else line)
    lines += ["", "[measured]", *(f"{key} = {_toml(value)}" for key, value in about.items()), "requests = ["]
    for row in found.rows:
        times = {"median": row.median_s, "slow": row.slow_s, "model": row.model_s}
        cells: dict[str, object] = {"what": row.what, "size": row.size, "count": row.count}
        cells |= {key: duration(time_s) for key, time_s in times.items()}
        lines.append(f"    {_toml(cells)},")
    return "\n".join([*lines, "]", ""])


def rate(bps: float) -> str:
    """Return a rate as a spec has it."""
    return f"{_units(max(round(bps), 1), (('GB/s', 10**9), ('MB/s', 10**6), ('kB/s', 10**3)), 'B/s')}"


def size(number: float) -> str | int:
    """Return a size as a spec has it; 0 where there is none."""
    whole = min(round(number), _MOST_BYTES)
    return f"{whole >> 20}MiB" if whole >= 10 << 20 else f"{whole >> 10}KiB" if whole >= 1 << 10 else whole


def duration(time_s: float) -> str:
    """Return a time as a spec has it."""
    whole = min(round(time_s * 1e9), _MOST_NS)
    return _units(whole, (("s", 10**9), ("ms", 10**6), ("us", 10**3)), "ns") if whole else "0"


def _units(number: int, units: tuple[tuple[str, int], ...], smallest: str) -> str:
    """Return a number of the smallest unit in the unit in which it is at least 1, in few digits."""
    number = int(float(f"{number:.{_DIGITS}g}"))
    for unit, factor in units:
        if number >= factor:
            return f"{number / factor:g}{unit}"
    return f"{number}{smallest}"


def _toml(value: object) -> str:
    """Return a value as TOML has it, which for these is as in JSON, except a table."""
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{key} = {_toml(each)}' for key, each in value.items())} }}"
    return json.dumps(value, ensure_ascii=False)
