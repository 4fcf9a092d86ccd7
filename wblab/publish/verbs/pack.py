"""wblab pack: a run or a study in one file."""

import argparse
import json
from dataclasses import asdict
from pathlib import Path

from wblab.commands.common import add_exp, add_json, note, results
from wblab.core.errors import InputError
from wblab.lab.printable import printable
from wblab.lab.results import study_at

_SHOWN = 6


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = (
        "Pack a run or a study into one file for 'wblab open' on another machine: its spec, kernel, measurements and "
        "traces, with a digest of all that was measured. Print the file's SHA-256 and name, as sha256sum does. The "
        "same run gives the same file wherever Python has the same zlib. Pages and pictures are left out: the lab "
        "draws them anew."
    )
    parser.add_argument("name", metavar="RUN|STUDY", help="its directory, the directory's name, or 'latest' for a run")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="a new file (default: NAME.wblab)")
    add_exp(parser, "runs and studies are")
    add_json(parser)
    parser.set_defaults(run=_pack)


def _pack(arguments: argparse.Namespace) -> None:
    from wblab.analysis.runs.run import find_run
    from wblab.lab.formats import PACKED
    from wblab.lab.progress import bar
    from wblab.publish.bundle.pack import pack

    place = results(arguments)
    path = study_at(Path(arguments.name), place) or find_run(arguments.name, place)
    output: Path = arguments.output or Path(f"{path.resolve().name}{PACKED}")
    if output.suffix != PACKED:
        raise InputError(f"{str(output)!r} must end in {PACKED}")
    with bar(path.name) as report:
        packed = pack(path, output, report)
    for line in packed.private:
        note(f"{line}: look at it before you hand the file on")
    if packed.left_out:
        shown, more = packed.left_out[:_SHOWN], len(packed.left_out) - _SHOWN
        rest = f" and {more} more" if more > 0 else ""
        note(f"left out: {', '.join(shown)}{rest}")
    if arguments.json:
        print(json.dumps({"file": str(output)} | asdict(packed), indent=2))
    else:
        print(printable(f"{packed.sha256}  {output}"))
