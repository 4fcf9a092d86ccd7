"""wblab disk measure."""

import argparse
import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from wblab.commands.common import add_json
from wblab.core.errors import InputError
from wblab.core.units import NS_PER_S, format_bytes, format_time, parse_bytes, parse_time
from wblab.lab.disks import EXPLAINED
from wblab.lab.printable import printable
from wblab.lab.tables import Table

if TYPE_CHECKING:
    from wblab.disks.fit import Fit
    from wblab.disks.survey import Site, Survey

_WORDS = {  # what the quantities of the model mean
    "write_bps": "writes, once they are under way",
    "read_bps": "reads, once they are under way",
    "latency": "what each request takes besides",
    "seek_time": "more, where it does not follow the last one",
    "depth": "requests that it works on at once",
    "stall_every": "it stops each time that so much was written",
    "stall_time": "and for so long",
    "stalls": "after as much each time (even), or by chance (random)",
    "cache_bytes": "written data that it keeps in a cache of its own",
    "drain_bps": "and how fast they go to the medium",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = (
        "Measure the disk below a directory: rates, latency, depth, stalls, cache. It reads and writes a file of its "
        "own, which is gone afterwards, and fits the lab's model of a device to what it saw. wblab run --disk takes "
        "the file that -o names. Nobody else should use the disk meanwhile."
    )
    add = parser.add_argument
    add("directory", type=Path, metavar="DIR", help="a directory on the disk, in which you may write")
    add("-o", "--output", type=Path, metavar="FILE", help="write the model to this file, which ends in .toml")
    add("--yes", action="store_true", help="do not ask before it writes")
    add("--max-bytes", default="512MiB", metavar="SIZE", help="write no more than this (default: 512MiB)")
    add("--max-time", default="60s", metavar="TIME", help="and take about this long at most (default: 60s)")
    add_json(parser, "print the model, and everything that was measured, as JSON")
    parser.set_defaults(run=_measure)


def _measure(arguments: argparse.Namespace) -> None:
    from wblab.disks.survey import site, survey
    from wblab.lab.progress import bar

    most_bytes, most_ns = parse_bytes(arguments.max_bytes), parse_time(arguments.max_time)
    if most_ns < NS_PER_S:
        raise InputError(f"--max-time {format_time(most_ns)} is too short to measure: give at least 1s")
    output: Path | None = arguments.output
    if output and (output.suffix != ".toml" or not output.absolute().parent.is_dir()):
        raise InputError(f"-o {str(output)!r}: give a file that ends in .toml, in a directory that is there")
    with site(arguments.directory) as found:
        bounds = found.bounds(most_bytes, most_ns / NS_PER_S)
        said = f"{found}: up to {format_bytes(most_bytes)} are written to it, in up to {format_time(most_ns)}"
        _agree(said, arguments.yes)
        with bar("disk") as report:
            seen = survey(found, bounds, report)
        _tell(found, seen, output, arguments.json)


def _agree(said: str, agreed: bool) -> None:
    """Ask, unless it is agreed already. Raises InputError where nobody can be asked, or does not want it."""
    print(printable(f"wblab: {said}"), file=sys.stderr)
    if agreed:
        return
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise InputError("nobody can be asked whether that is all right: say --yes")
    print("wblab: go on? [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise InputError("nothing was written")


def _tell(site: "Site", seen: "Survey", output: Path | None, as_json: bool) -> None:
    from wblab.core.files import replace_file
    from wblab.disks.fit import fit
    from wblab.disks.tomlfile import disk_file, disk_table

    found = fit(seen.measured)
    if output:
        try:
            with replace_file(output) as file:
                file.write(disk_file(found, seen, site, time.strftime("%Y-%m-%d")).encode())
        except OSError as error:
            raise InputError(f"cannot write {str(output)!r}: {error.strerror}: give another name") from None
    for note in seen.notes:
        print(printable(f"wblab: {note}"), file=sys.stderr)
    if as_json:
        table = {
            "directory": str(site.directory),
            "filesystem": site.place.filesystem,
            "name": site.disk_name,
            "direct": seen.is_direct,
            "notes": list(seen.notes),
            "disk": disk_table(found),
            "explained": found.explained,
            "unknown": found.unknown,
            "requests": [vars(row) for row in found.rows],
            "measured": seen.measured.to_json(),
        }
        print(json.dumps(table))
    else:
        _show(found)
        if output:
            print()
            print(printable(str(output)))


def _show(found: "Fit") -> None:
    from wblab.disks.fit import AS_PREDICTED
    from wblab.disks.tomlfile import disk_table, duration, size

    rows = [
        (row.what, str(size(row.size)), str(row.count), *map(duration, (row.median_s, row.slow_s, row.model_s)))
        for row in found.rows
    ]
    heads = ("requests", "size", "how many", "half of them in", "99 in 100 in", "the model says")
    Table(rows, heads, frozenset(range(1, 6))).show()
    print()
    table = disk_table(found)
    words = {key: ", ".join(filter(None, (_WORDS[key], found.unknown.get(key, "")))) for key in _WORDS}
    Table([(key, str(table[key]), words[key]) for key in _WORDS], ("the model", "", "")).show()
    close = f"{found.explained:.0%}"
    print(f"\nThe model explains {close} of the times, within {AS_PREDICTED:.0%}, each kind of request counted alike.")
    if found.explained < EXPLAINED:
        print("That is little: the machine or the disk was busy, or the disk is not like the model.")
