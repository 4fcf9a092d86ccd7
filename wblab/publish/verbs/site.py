"""wblab pack --site: a static site of runs, studies and the lab's own pages."""

import argparse
import json
import re
from pathlib import Path

from wblab.commands.common import add_exp, add_json, add_kernel, results, whole
from wblab.lab.printable import printable

_RUNS = "gallery"  # a directory of its own: these runs are nobody's latest


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = (
        "Make a static site: runs of presets, studies, findings, the verdicts on claims and recommendations, lessons "
        "and the reference. It opens from a directory, asks nothing of any server, and has for each run a line that "
        "repeats it. Runs that an earlier site left are not made again."
    )
    add = parser.add_argument
    add("out", type=Path, metavar="OUT", help="directory of the site: a new one, or an earlier site, which it replaces")
    add("studies", nargs="*", type=Path, metavar="STUDY", help="studies: their directories, or the directories' names")
    add("--runs", choices=("few", "all", "none"), default="few", help="presets to run for the gallery (default: few)")
    about = "runs of each study that get a page with pictures of their own, cell by cell (default: 12)"
    add("--pages", type=whole(0), default=12, metavar="N", help=about)
    about = "a matrix that kept its traces: the page to play with turns its axes (default: the lab's own, knobs)"
    add("--explore", type=Path, metavar="STUDY", help=about)
    about = "where the site will be on the web, https://...: pages that link to it then show a picture of it"
    add("--address", type=_address, metavar="URL", help=about)
    add_kernel(parser, "the presets'")
    add_exp(parser, f"studies are, and the directory {_RUNS} of the presets' runs")
    add_json(parser)
    parser.set_defaults(run=_site)


def _address(text: str) -> str:
    if not re.fullmatch(r"https?://[^\s\"<>\\]+", text):
        raise argparse.ArgumentTypeError(f"{text!r} is no address such as https://example.org/wblab")
    return text


def _site(arguments: argparse.Namespace) -> None:
    from wblab.commands.reference import verbs
    from wblab.kernels import built_kernels, full_name
    from wblab.lab.progress import bar
    from wblab.publish.site.build import SiteContent, files, presets
    from wblab.publish.site.page import HOME, placed_at
    from wblab.publish.site.prose import whole_forms
    from wblab.publish.site.write import check_place, write

    out: Path = arguments.out
    check_place(out)
    exp = results(arguments)
    studies = [path if path.is_dir() else exp / path for path in arguments.studies]
    explore: Path | None = arguments.explore
    if explore and not explore.is_dir():
        explore = exp / explore
    kernel = full_name(arguments.kernel) if arguments.kernel else ""
    forms = {**whole_forms(), "commands": lambda: verbs(arguments.command)}
    wanted = SiteContent(presets(arguments.runs), studies, arguments.pages, kernel, forms, explore=explore)
    with bar("site") as report:
        made = files(wanted, exp / _RUNS, built_kernels(arguments.kernel), report)
        count = write(out, placed_at(made, arguments.address or ""))
    if arguments.json:
        print(json.dumps({"site": str(out), "first_page": str(out / HOME), "files": count}, indent=2))
    else:
        print(printable(str(out / HOME)))
