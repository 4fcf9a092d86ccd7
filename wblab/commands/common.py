"""What several verbs share: options, each defined once, and the run that they name."""

import argparse
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from wblab.core.errors import InputError
from wblab.lab.printable import printable

if TYPE_CHECKING:
    from wblab.report.report import Medium, Report
    from wblab.study.asked import StudyAnswer, StudyRequest
    from wblab.study.plan import Shard

A = TypeVar("A", bound="StudyRequest")

Parser: TypeAlias = argparse.ArgumentParser | argparse._ArgumentGroup

_RUN = "a run: its directory, the directory's name, or latest"
_MOST_JOBS = 1024
_OF_COMMANDS = 4  # columns: a line indented this far is a command to copy


def add_run(parser: Parser, *, optional: bool = False, about: str = _RUN) -> None:
    """Add RUN, parsed as `run_name`."""
    parser.add_argument("run_name", metavar="RUN", nargs="?" if optional else None, help=about)


def add_exp(parser: Parser, what: str = "run directories are") -> None:
    """Add --exp, the directory of results; see `results`."""
    parser.add_argument(
        "--exp",
        type=Path,
        metavar="DIR",
        help=f"where {what} (default: $WBLAB_EXP or exp/)",
    )


def add_json(parser: Parser, about: str = "print JSON") -> None:
    """Add --json."""
    parser.add_argument("--json", action="store_true", help=about)


def add_settings(parser: Parser) -> None:
    """Add --set, changes to a spec, parsed as `settings`."""
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        dest="settings",
        help="a key of the spec: disk.write_bps=2M; repeatable",
    )


def add_kernel(parser: Parser, default: str) -> None:
    """Add --kernel, the guest's; empty if not given. default: in words."""
    about = f"the guest's kernel: a series (wblab kernel list) or a path (default: {default})"
    parser.add_argument("--kernel", default="", metavar="SERIES|PATH", help=about)


def add_seeds(parser: Parser, about: str, default: int | None = None) -> None:
    """Add --seeds, the number of runs that differ only in their seeds."""
    said = about if default is None else f"{about} (default: {default})"
    parser.add_argument("--seeds", type=whole(1), default=default, metavar="N", help=said)


def add_jobs(parser: Parser) -> None:
    """Add --jobs, the number of runs at once."""
    about = "runs at once (default: one for each processor)"
    parser.add_argument("--jobs", type=whole(1, _MOST_JOBS), metavar="N", help=about)


def add_resume(parser: Parser) -> None:
    """Add --resume, the directory of a study to continue; see wblab.analysis.groups.resultlist.study_named."""
    about = "make the missing runs of this one, or of 'latest'"
    parser.add_argument("--resume", type=Path, metavar="DIR", help=about)


def add_workers(parser: argparse.ArgumentParser) -> None:
    """Add --kernel, --jobs and --cluster: the kernels, and where runs are made."""
    parser.add_argument(
        "--kernel",
        action="append",
        default=[],
        metavar="SERIES|PATH",
        help="the guests' kernel; a path that they may use",
    )
    add_where(parser)


def add_keep(parser: Parser) -> None:
    """Add --keep: what a study keeps of a run."""
    parser.add_argument(
        "--keep",
        choices=("traces", "digests", "failing"),
        metavar="KEPT",
        help="of each run: traces; digests, a row that repeats it; failing, traces of failed ones too (default: "
        "traces; of over 300 runs, failing)",
    )


def add_shard(parser: Parser) -> None:
    """Add --shard: the part of a study's runs to make."""
    parser.add_argument(
        "--shard",
        type=_shard,
        metavar="I/N",
        help="make part I of N of the runs; --merge joins the parts",
    )


def _shard(text: str) -> "Shard":
    from wblab.study.plan import shard_of

    try:
        return shard_of(text)
    except InputError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def add_where(parser: argparse.ArgumentParser) -> None:
    """Add --jobs and --cluster: where runs are made."""
    where = parser.add_mutually_exclusive_group()
    add_jobs(where)
    where.add_argument(
        "--cluster",
        metavar="ADDRESS",
        help="make runs on a dask.distributed cluster. Who reaches its scheduler runs code as you: use tls://, or a "
        "network that you trust",
    )


def add_resampling_seed(parser: Parser) -> None:
    """Add --resampling-seed, for random numbers in the analysis of runs, not in the runs."""
    about = "seed of the resampling that computes the intervals (default: 0)"
    parser.add_argument("--resampling-seed", type=whole(0), default=0, metavar="N", help=about)


def add_bound(parser: Parser) -> None:
    """Add --bound, the threshold of pauses that are listed one by one."""
    about = "list the pauses longer than this (default: 300ms)"
    parser.add_argument("--bound", default="300ms", metavar="TIME", help=about)


def add_output(parser: Parser, about: str, formats: Sequence[str]) -> None:
    """Add -o and --format, for an output file; see `format_of`. formats: the permitted suffixes."""
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help=about)
    said = "file format (default: by the file's suffix)" if len(formats) > 1 else f"file format (default: {formats[0]})"
    parser.add_argument("--format", choices=tuple(formats), help=said)


def one_kernel(arguments: argparse.Namespace) -> str:
    """Return the kernel of a repeatable --kernel where one may be given; empty for none. Raises InputError."""
    if len(arguments.kernel) > 1:
        raise InputError(f"--kernel {arguments.kernel[1]}: all runs of this have one kernel: give it once")
    return str(arguments.kernel[0]) if arguments.kernel else ""


def whole(least: int, most: int | None = None) -> Callable[[str], int]:
    """Return a parser of whole numbers between two limits, for argparse."""

    def read(text: str) -> int:
        said = f"at least {least}" if most is None else f"between {least} and {most}"
        try:
            number = int(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number") from None
        if number < least or (most is not None and number > most):
            raise argparse.ArgumentTypeError(f"{number} is not {said}")
        return number

    return read


def format_of(arguments: argparse.Namespace, formats: Sequence[str]) -> str:
    """Return the format of the output file; by default the first. Raises InputError."""
    output: Path | None = arguments.output
    ending = output.suffix.lower().removeprefix(".") if output else ""
    chosen: str = arguments.format or (ending if output else formats[0])
    if output and ending != chosen:
        raise InputError(f"--format {chosen}: {str(output)!r} does not end in .{chosen}: leave one of the two out")
    if chosen not in formats:
        endings = ", ".join(f".{name}" for name in formats)
        raise InputError(f"{str(output)!r} must end in {endings}: the suffix selects the format")
    return chosen


def results(arguments: argparse.Namespace) -> Path:
    """Return the directory of results that the arguments name."""
    from wblab.api.frames import results as found

    return found(arguments.exp)


def named_run(arguments: argparse.Namespace) -> Path:
    """Return the directory of the run that the arguments name. Raises InputError."""
    from wblab.analysis.runs.run import failed_since, find_run

    found = find_run(arguments.run_name, results(arguments))
    if arguments.run_name == "latest" and (failed := failed_since(found)):
        note(f"the latest run that succeeded; {failed.name} after it failed")
    return found


def is_file_of_others(name: str) -> bool:
    """Whether a name is that of a file or of standard input, not of a run."""
    return name == "-" or (name != "latest" and os.path.isfile(name))


def note(said: str) -> None:
    """Print on standard error what a verb does, or found by the way."""
    print(printable(f"wblab: {said}"), file=sys.stderr)


def tell(found: "Report", *below: Path | str, as_json: bool, place: "Medium" = "terminal", **about: Any) -> None:
    """Print a report: as text, with lines below it, such as where it is; or as JSON. about: more for that, first."""
    from wblab.report.text import show

    if as_json:
        print(json.dumps(about | found.to_json(), indent=2, allow_nan=False))
        return
    show(found, place)
    if below:
        print("\n".join(["", *(printable(str(line)) for line in below)]))


def asked_of(arguments: argparse.Namespace, kind: "type[A]", **further: Any) -> "A":
    """Return what a study is asked for: the arguments that its fields are called after, and further ones.

    What is noted, and failed runs of a study that goes on, are printed on standard error.
    """
    names = {field.name for field in fields(kind)}
    there = {name: value for name, value in vars(arguments).items() if name in names and value is not None}
    given = {name: tuple(value) if isinstance(value, list) else value for name, value in there.items()}
    own: dict[str, Any] = {"results": results(arguments), "note": note, "failed": _failed}
    return kind(**own | given | further)


def _failed(line: str) -> None:
    print(printable(line), file=sys.stderr)


def show(answer: "StudyAnswer", *, as_json: bool) -> None:
    """Print what a study answers: its report, or where it is, and the runs that failed. Raises WblabError for those."""
    if answer.report:
        from wblab.study.store import Store
        from wblab.study.subject import plainly

        with suppress(InputError):  # what a bisection or a claim of several studies left is none
            answer = replace(answer, report=plainly(answer.report, Store.open(answer.directory)))
    if answer.report:
        tell(answer.report, *answer.below, as_json=as_json, place=answer.place, **answer.about)
    elif as_json and answer.about:
        print(json.dumps(answer.about, indent=2))
    elif answer.below:
        print("\n".join(printable(str(line)) for line in answer.below))
        if answer.next:
            note(answer.next)
    for line in answer.failures.lines:
        _failed(line)
    answer.check()


def print_wrapped(lines: "Iterable[str]") -> None:
    """Print lines; on a terminal, wrap long ones at words, but keep numbers with their units.

    Indented lines, which are commands, stay whole.
    """
    from wblab.report.text import wrapped

    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    for line in lines:
        indent = " " * (len(line) - len(line.lstrip()))
        shown = width if len(indent) < _OF_COMMANDS else None
        print("\n".join(wrapped(line, shown, indent, breaks_words=False)))
