"""wblab repeat: is it the same to the bit? Makes a run again, or a part of a study's runs, and compares.

What is repeated: a run; a run of which a study kept its row; the record of a run in a site (repeat.json), which has the
spec and the digest of what was measured; a file of `wblab pack`; a share of a study; `golden`, what other machines got.
"""

import argparse

from wblab.commands.common import add_exp, add_json, add_resume, add_run, add_workers, whole


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = (
        "Make a run again and compare the two, byte for byte: in virtual time they should be identical. If they "
        "differ, show the first difference, and the inputs that were others. Of a study, make a random part of its "
        "runs again; of a packed file, one of its runs. golden: the base run, beside what other machines got."
    )
    about = (
        "a run or a study: its directory, the directory's name, or 'latest'; a file of 'wblab pack'; the repeat.json "
        "of a site; or golden"
    )
    add_run(parser, about=about)
    parser.add_argument("other", nargs="?", metavar="OTHER", help="compare a run with this one instead of a new one")
    parser.add_argument("--explain", action="store_true", help="make two runs that trace everything, and compare those")
    parser.add_argument("--run", metavar="RUN", dest="one", help="this run of a study or file: its name, or CELL/SEED")
    parser.add_argument("--share", type=_share, metavar="PERCENT", help="how many of a study's runs (default: 1%%)")
    about = "which of a study's runs are chosen (default: 0)"
    parser.add_argument("--choice", type=whole(0), metavar="N", help=about)
    add_resume(parser)
    about = "golden: the expected figures of a kernel series, or of all that are built: all"
    parser.add_argument("--series", metavar="SERIES", help=about)
    about = "golden: record what this machine gets, for others to compare with"
    parser.add_argument("--update", action="store_true", help=about)
    add_exp(parser)
    add_workers(parser)
    add_json(parser)
    parser.set_defaults(run=_repeat)


def _repeat(arguments: argparse.Namespace) -> None:
    from wblab.commands.repeating import repeat

    repeat(arguments)


def _share(text: str) -> float:
    """Read a share such as 1% or 0.5%. Raises ArgumentTypeError."""
    try:
        share = float(text.removesuffix("%")) / 100
    except ValueError:
        share = 0.0
    if not text.endswith("%") or not 0 < share <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no share: give a percentage over 0, such as 1%")
    return share
