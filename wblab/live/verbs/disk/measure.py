"""wblab disk measure."""

import argparse
import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from wblab.commands.common import add_json, note
from wblab.core.errors import InputError
from wblab.core.units import NS_PER_S, format_bytes, format_time, parse_bytes, parse_time
from wblab.lab.disks import EXPLAINED
from wblab.lab.held import replace_file
from wblab.lab.printable import printable
from wblab.report.listing import Listing
from wblab.report.quantities import percent

if TYPE_CHECKING:
    from wblab.live.disks.fit import Fit
    from wblab.live.disks.survey import Site, Survey

_WORDS = {  # what each quantity of the model means
    "driver": "whose queue it has",
    "write_bps": "sustained write rate",
    "read_bps": "sustained read rate",
    "latency": "added time of each request",
    "seek_time": "added time of a request that does not follow the last one",
    "depth": "requests served at once",
    "stall_every": "the disk stalls after writing this much",
    "stall_time": "length of a stall",
    "stalls": "at equal distances (even) or by chance (random)",
    "cache_bytes": "size of the disk's write cache",
    "drain_bps": "rate at which the cache drains to the medium",
    "erase_block": "flash is written in blocks of this size",
    "open_blocks": "so many of them at a time",
    "burst_bytes": "credits for transfers faster than the next rate",
    "sustained_bps": "rate at which credits come back",
    "iops": "most requests per second",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = (
        "Measure the disk under a directory: rates, latency, depth, stalls and cache. The measurement reads and "
        "writes one file of its own and deletes it, then fits the lab's model of a device. Give the file written by "
        "-o to wblab run --disk. Keep the disk otherwise idle meanwhile."
    )
    add = parser.add_argument
    add("directory", type=Path, metavar="DIR", help="a writable directory on the disk")
    add("-o", "--output", type=Path, metavar="FILE", help="write the model to this .toml file")
    add("--yes", action="store_true", help="do not ask before writing")
    add("--max-bytes", default="512MiB", metavar="SIZE", help="write at most this much (default: 512MiB)")
    add("--max-time", default="60s", metavar="TIME", help="take about this long at most (default: 60s)")
    add_json(parser, "print the model and all measurements as JSON")
    parser.set_defaults(run=_measure)


def _measure(arguments: argparse.Namespace) -> None:
    from wblab.lab.progress import bar
    from wblab.live.disks.survey import site, survey

    most_bytes, most_ns = parse_bytes(arguments.max_bytes), parse_time(arguments.max_time)
    if most_ns < NS_PER_S:
        raise InputError(f"--max-time {format_time(most_ns)} is too short to measure: give at least 1s")
    output: Path | None = arguments.output
    if output and (output.suffix != ".toml" or not output.absolute().parent.is_dir()):
        raise InputError(f"-o {str(output)!r}: give a .toml file in a directory that exists")
    with site(arguments.directory) as found:
        bounds = found.bounds(most_bytes, most_ns / NS_PER_S)
        said = f"{found}: this writes up to {format_bytes(most_bytes)} to it and takes up to {format_time(most_ns)}"
        _agree(said, arguments.yes)
        with bar("disk") as report:
            seen = survey(found, bounds, report)
        _tell(found, seen, output, arguments.json)


def _agree(said: str, agreed: bool) -> None:
    """Ask for permission, unless it was given. Raises InputError if it is refused or nobody can be asked."""
    note(said)
    if agreed:
        return
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise InputError("no terminal to ask for permission on: give --yes")
    print("wblab: go on? [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise InputError("nothing was written")


def _tell(site: "Site", seen: "Survey", output: Path | None, as_json: bool) -> None:
    from wblab.live.disks.fit import fit
    from wblab.live.disks.tomlfile import disk_file, disk_table

    found = fit(seen.measured)
    if output:
        try:
            with replace_file(output) as file:
                file.write(disk_file(found, seen, site, time.strftime("%Y-%m-%d")).encode())
        except OSError as error:
            raise InputError(f"cannot write {str(output)!r}: {error.strerror}: give another name") from None
    for doubt in seen.notes:
        note(doubt)
    if as_json:
        table = {
            "directory": str(site.directory),
            "filesystem": site.place.filesystem,
            "name": site.disk_name,
            "direct": seen.is_direct,
            "notes": list(seen.notes),
            "disk": disk_table(found, site.of_queue()),
            "explained": found.explained,
            "unknown": found.unknown,
            "requests": [vars(row) for row in found.rows],
            "measured": seen.measured.to_json(),
        }
        print(json.dumps(table))
    else:
        _show(found, site)
        if output:
            print()
            print(printable(str(output)))


def _show(found: "Fit", site: "Site") -> None:
    from wblab.live.disks.fit import AS_PREDICTED
    from wblab.live.disks.tomlfile import disk_table, duration, size

    rows = [
        (row.what, str(size(row.size)), str(row.count), *map(duration, (row.median_s, row.slow_s, row.model_s)))
        for row in found.rows
    ]
    heads = ("requests", "size", "count", "median", "99 in 100 in", "model")
    Listing(rows, heads, frozenset(range(1, 6))).show()
    print()
    table = disk_table(found, site.of_queue())
    table |= {f"queue.{key}": value for key, value in table.pop("queue", {}).items()}
    words = {key: ", ".join(filter(None, (_said(key), found.unknown.get(key, "")))) for key in table}
    Listing([(key, str(value), words[key]) for key, value in table.items() if words[key]], ("model", "", "")).show()
    close, within = percent(found.explained), percent(AS_PREDICTED)
    print(f"\nThe model explains {close} of the times to within {within}; each kind of request counts equally.")
    if found.explained < EXPLAINED:
        print("That is low: the disk or machine was busy, or the disk does not behave like the model.")


def _said(key: str) -> str:
    return "set otherwise than the driver does" if key.startswith("queue.") else _WORDS.get(key, "")
