"""wblab compare: differences between groups of runs."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from wblab.commands.common import (
    add_exp,
    add_json,
    add_output,
    add_resampling_seed,
    format_of,
    note,
    results,
    tell,
)
from wblab.core.errors import InputError
from wblab.lab.formats import DESIGN, PAGE
from wblab.lab.printable import printable
from wblab.lab.results import study_at

if TYPE_CHECKING:
    from wblab.analysis.groups.comparison import Comparison

_FORMATS = ("png", "svg", "pdf", "html")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = (
        "Compare groups of runs, or the cells of a study, and print the differences with their intervals, tails "
        "first. A difference is claimed if its interval excludes zero, or if exact tests of ranks exclude chance; both "
        "are corrected for the number of tests."
    )
    parser.add_argument(
        "runs", nargs="+", metavar="RUN", help="runs, or one study: its directory, or its Parquet or CSV file"
    )
    add_exp(parser)
    add = parser.add_argument
    add(
        "--by",
        action="append",
        default=[],
        metavar="KEY",
        help="group by this key of the spec (default: all that differ); repeatable",
    )
    add(
        "--baseline",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="compare with the group that has this value (default: the first run's); repeatable",
    )
    add("--load", action="append", default=[], metavar="NAME", help="compare only this load; repeatable")
    add(
        "--metric",
        action="append",
        default=[],
        metavar="NAME",
        help="compare only this metric, by its name in --json or in the table; repeatable",
    )
    add(
        "--causes",
        action="store_true",
        help="also compare the paused time of innocent loads by cause (wblab why); a study must have recorded causes",
    )
    add("--all", action="store_true", help="show every load, metric and group, even without a clear difference")
    add_resampling_seed(parser)
    add_output(parser, "write a figure, or a report in HTML (default with --format: comparison.FORMAT)", _FORMATS)
    add_json(parser, "print everything as JSON")
    parser.set_defaults(run=_compare)


def _compare(arguments: argparse.Namespace) -> None:
    from wblab.api.compared import compare
    from wblab.report.comparisonreport import report
    from wblab.report.comparisontext import is_first
    from wblab.report.page import write
    from wblab.study.pictured import with_pictures
    from wblab.study.store import Store

    output = _output(arguments)
    for name in arguments.runs:
        if any((place / name / DESIGN).is_file() for place in (Path(), results(arguments))):
            hint = "the rows of an exploration differ in many settings at once: wblab study says which matter"
            note(f"{name}: {hint}")
    comparison = compare(
        *arguments.runs,
        by=arguments.by,
        baseline=dict(_pair(text) for text in arguments.baseline),
        load=arguments.load,
        metric=arguments.metric,
        causes=arguments.causes,
        resampling_seed=arguments.resampling_seed,
        exp=results(arguments),
    )
    shown = comparison if arguments.all or arguments.load or arguments.metric else comparison.only(is_first)
    is_page = output is not None and output.suffix.lower() == PAGE
    figure = _svg(comparison) if is_page else ""
    every = bool(arguments.all or arguments.load or arguments.metric)
    title = f"Comparison by {', '.join(comparison.axes)}"
    found = report(comparison, title, figure, shown, every=every, groups=arguments.all)
    tell(found, as_json=arguments.json)
    if output is None:
        return
    if is_page:
        study = study_at(Path(arguments.runs[0]), results(arguments)) if len(arguments.runs) == 1 else None
        write(with_pictures(found, Store.open(study)) if study else found, output)
    else:
        _draw(comparison, output)
    if not arguments.json:
        print(printable(str(output)))


def _output(arguments: argparse.Namespace) -> Path | None:
    """Return the file to write, if any. Raises InputError."""
    if arguments.output is None and arguments.format is None:
        return None
    chosen = format_of(arguments, _FORMATS)
    return arguments.output or Path(f"comparison.{chosen}")


def _pair(text: str) -> tuple[str, str]:
    key, equals, value = text.rpartition("=")
    if not equals or not key:
        raise InputError(f"--baseline {text!r} must be KEY=VALUE, for example disk.scheduler=none")
    return key, value


def _svg(comparison: "Comparison") -> str:
    from wblab.plot.comparisonfigure import comparison_figure
    from wblab.plot.picture import svg

    return svg(comparison_figure(comparison))


def _draw(comparison: "Comparison", path: Path) -> None:
    from wblab.plot.comparisonfigure import comparison_figure
    from wblab.plot.picture import save

    save(comparison_figure(comparison), "Comparison", path)
