"""wblab study: make many runs, and say what they show. What it is given decides its design."""

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from wblab.commands.common import (
    add_exp,
    add_json,
    add_keep,
    add_resume,
    add_seeds,
    add_settings,
    add_shard,
    add_workers,
    asked_of,
    show,
)
from wblab.lab.designs import names
from wblab.report.listing import Listing


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = (
        "Make many runs, and say what they show. WHAT is a file or a name: a matrix, an exploration, "
        "recommendations, claims, a finding, atlas; a spec, to be run on several --on; a live run, here:DIR, or "
        "another machine's facts and DIR, to be repeated in a small guest. Of a study's directory: its report."
    )
    parser.add_argument("what", nargs="?", metavar="WHAT", help="what to study")
    about = "only these parts: claims, recommendations, works"
    parser.add_argument("parts", nargs="*", metavar="PART", help=about)
    parser.add_argument("--list", action="store_true", help="print what there is by name, and run nothing")
    about = "where: 7.2, 7.2+smp@4, stock:7.2+sata@4 (Debian's), live:DIR, or all; /real for the host's clock"
    _add_several(parser, "--on", "PLACE", about)
    _add_several(parser, "--filesystem", "NAME", "atlas: only on this filesystem")
    add_settings(parser)
    add_seeds(parser, "runs of each cell, at most (default: its own)")
    about = "3, 5, 8, 13 … seeds, until differences are decided"
    parser.add_argument("--until-decided", action="store_true", help=about)
    add_resume(parser)
    add_keep(parser)
    add_shard(parser)
    add_exp(parser, "its directory goes")
    add_workers(parser)
    parser.add_argument("--disk", metavar="FILE", help="of a live run: its disk's model (wblab disk measure)")
    parser.add_argument("--update", action="store_true", help="of a finding: keep its figures in the checkout")
    parser.add_argument("-o", "--output", type=Path, metavar="DIR", help="where claims and an atlas go")
    parser.add_argument("--evidence", action="store_true", help="print every figure with its interval")
    add_json(parser)
    parser.set_defaults(run=_study)


def _add_several(parser: argparse.ArgumentParser, option: str, metavar: str, about: str) -> None:
    parser.add_argument(option, action="append", default=[], metavar=metavar, help=about)


def _study(arguments: argparse.Namespace) -> None:
    if arguments.list and not arguments.what:
        _print_names(as_json=arguments.json)
        return
    from wblab.study.asked import StudyRequest
    from wblab.study.subject import make, parts

    asked = asked_of(arguments, StudyRequest)
    if arguments.list:
        of = parts(asked)
        _print_list(Listing(of.rows, of.heads), of.data, as_json=arguments.json)
    else:
        show(make(asked), as_json=arguments.json)


def _print_names(*, as_json: bool) -> None:
    found = list(names())
    data = [{"name": name, "design": design, "what": what} for design, name, what in found]
    _print_list(Listing([(name, what) for _, name, what in found], ("name", "what it is")), data, as_json=as_json)
    if not as_json:
        print("    wblab study NAME --list    # of a work or of recommendations: each of them")


def _print_list(listing: Listing, data: Sequence[Mapping[str, str]], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(data, indent=2))
    else:
        listing.show()
