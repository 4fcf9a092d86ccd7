"""wblab study: make many runs, and say what they show. What it is given decides its design."""

import argparse
from importlib import import_module
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
    allow,
    given,
)
from wblab.core.errors import InputError
from wblab.lab.designs import DESIGNS


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = (
        "Make many runs, and say what they show. WHAT is a file or a name: a matrix, an exploration, "
        "recommendations, claims, a finding, atlas; a spec, to be run on several --on; a live run, or here:DIR, to be "
        "repeated in a scaled-down guest. Of a study's directory: its report."
    )
    parser.add_argument("what", nargs="?", metavar="WHAT", help="what to study")
    about = "only these parts: claims, recommendations, works"
    parser.add_argument("parts", nargs="*", metavar="PART", help=about)
    parser.add_argument("--list", action="store_true", help="print what there is by name, and run nothing")
    about = "where: 7.2, 7.2+smp@4, stock:7.2@4 (a distribution's), live:DIR, or all; with /real for the host's clock"
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
    from wblab.commands.study.subject import print_names, subject

    if arguments.list:
        print_names(arguments)
        return
    name = subject(arguments)
    designs = {design.noun: (*design.plan, *design.call) for design in DESIGNS.values() if design.is_of_study}
    allow(arguments, DESIGNS[name].noun, designs)
    if arguments.resume and (kept := given(arguments, DESIGNS[name].plan)):
        raise InputError(f"--resume keeps the plan of the first call: leave {' and '.join(kept.values())} out")
    import_module(f"{__name__}.{name}").make(arguments)
