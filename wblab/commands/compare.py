"""wblab compare."""

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from wblab.lab.printable import printable

if TYPE_CHECKING:
    from wblab.data.comparison import Comparison
    from wblab.data.observations import Observations


def add_verbs(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the verb to the command."""
    compare = verbs.add_parser(
        "compare",
        help="compare groups of runs",
        description="Compare groups of runs, or the cells of a matrix: differences with intervals, tails first. Where "
        "an interval spans zero, nothing is claimed.",
    )
    compare.add_argument(
        "runs", nargs="+", metavar="RUN", help="runs, or one matrix: its directory, or a Parquet or CSV"
    )
    compare.add_argument("--exp", type=Path, metavar="DIR", help="where run directories are (default: exp/ of the lab)")
    compare.add_argument(
        "--by", action="append", default=[], metavar="KEY", help="group by this key of the spec (default: what differs)"
    )
    compare.add_argument(
        "--baseline",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="compare with this (default: the first run's)",
    )
    compare.add_argument("--load", action="append", default=[], metavar="NAME", help="show only this load")
    compare.add_argument("--metric", action="append", default=[], metavar="NAME", help="show only this metric")
    compare.add_argument("--all", action="store_true", help="show every load, metric and group")
    compare.add_argument("--seed", type=int, default=0, metavar="N", help="of the resampling (default: 0)")
    compare.add_argument("--json", action="store_true", help="print JSON, with everything")
    compare.add_argument("-o", "--output", type=Path, metavar="FILE", help="draw a figure: PNG, SVG or PDF")
    compare.add_argument("--html", type=Path, metavar="FILE", help="write a report: one HTML file")
    compare.set_defaults(run=_compare)


def _compare(arguments: argparse.Namespace) -> None:
    from wblab.core.errors import InputError
    from wblab.data.comparison import compare
    from wblab.data.statistics import Resampling
    from wblab.plot.comparison import check_format

    if arguments.seed < 0:
        raise InputError(f"--seed {arguments.seed} must be 0 or more")
    if arguments.output is not None:
        check_format(arguments.output)
    comparison = compare(_observations(arguments), Resampling(seed=arguments.seed))
    shown = _shown(comparison, arguments)
    if arguments.json:
        print(json.dumps(comparison.to_json(), indent=2, allow_nan=False))
    else:
        _print(shown, arguments.all)
    written = [*_draw(comparison, arguments.output), *_write(comparison, arguments.html)]
    if not arguments.json:
        print(*(printable(str(path)) for path in written), sep="\n", end="\n" if written else "")


def _observations(arguments: argparse.Namespace) -> "Observations":
    from wblab.data.observations import found_observations
    from wblab.lab.specfile import RESULTS

    baseline = dict(_pair(text) for text in arguments.baseline)
    return found_observations(arguments.runs, arguments.exp or RESULTS, arguments.by, baseline)


def _pair(text: str) -> tuple[str, str]:
    from wblab.core.errors import InputError

    key, equals, value = text.rpartition("=")
    if not equals or not key:
        raise InputError(f"--baseline {text!r} is not of the form KEY=VALUE: write for example disk.scheduler=none")
    return key, value


def _shown(comparison: "Comparison", arguments: argparse.Namespace) -> "Comparison":
    from wblab.core.errors import InputError, nearest
    from wblab.plot.comparisontext import is_headline

    for what in ("load", "metric"):
        known = list(dict.fromkeys(getattr(item.about, what) for item in comparison.distributions))
        for name in getattr(arguments, what):
            if name not in known:
                raise InputError(f"no {what} {name!r}{nearest(name, known)}: the runs have {', '.join(known)}")
    chosen = arguments.all or arguments.load or arguments.metric
    return comparison.only(
        lambda about: (
            about.load in (arguments.load or [about.load])
            and about.metric in (arguments.metric or [about.metric])
            and bool(chosen or is_headline(about))
        )
    )


def _print(comparison: "Comparison", with_groups: bool) -> None:
    from rich.text import Text

    from wblab.lab.tables import show, terminal
    from wblab.plot.comparison import headline
    from wblab.plot.comparisontext import WIDE, chosen_sorts, footnotes, terminal_tables

    output = terminal()
    show(Text(printable(headline(comparison))))
    sorts = list(chosen_sorts(comparison))
    if with_groups and "group" not in sorts:
        sorts.append("group")
    comparison = comparison if "group" in sorts else comparison.without("group")
    for table in terminal_tables(comparison, sorts, output.width if output else WIDE):
        print()
        show(table)
    print()
    for note in footnotes(comparison):
        show(Text(printable(f"- {note}"), "dim"))


def _draw(comparison: "Comparison", path: Path | None) -> list[Path]:
    from wblab.plot.comparison import comparison_figure, save_figure

    if path is None:
        return []
    save_figure(comparison_figure(comparison), path)
    return [path]


def _write(comparison: "Comparison", path: Path | None) -> list[Path]:
    from wblab.core.errors import WblabError
    from wblab.core.files import replace_file
    from wblab.plot.report import report

    if path is None:
        return []
    try:
        with replace_file(path) as file:
            file.write(report(comparison, f"Comparison by {', '.join(comparison.axes)}").encode())
    except OSError as error:
        raise WblabError(f"cannot write {path}: {error.strerror}") from None
    return [path]
