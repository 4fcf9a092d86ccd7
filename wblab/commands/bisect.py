"""wblab bisect."""

import argparse
import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from wblab.core.errors import InputError, WblabError
from wblab.lab.printable import printable

if TYPE_CHECKING:
    from wblab.bisect.result import Question

_MOST = 34
_LEAST = 3


def add_verbs(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the verb to the command."""
    bisect = verbs.add_parser(
        "bisect",
        help="find the kernel commit that changed a figure",
        description="Find the commit between GOOD and BAD, two revisions of a kernel's git repository, that changed a "
        "metric: git's bisection, with a kernel built for each step, and as many runs as the difference needs. Your "
        "work tree is not touched. Commits that do not build or run are skipped.",
    )
    bisect.add_argument("good", nargs="?", metavar="GOOD", help="a revision from before the change")
    bisect.add_argument("bad", nargs="?", metavar="BAD", help="one from after it")
    bisect.add_argument("--metric", metavar="LOAD.METRIC", help="what changed: mw1.longest_pause_s")
    bisect.add_argument("--tree", type=Path, default=Path(), metavar="PATH", help="the repository (default: here)")
    bisect.add_argument("--spec", default="base", metavar="SPEC", help="what to run, as for wblab run (default: base)")
    bisect.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", dest="settings", help="change a key of the spec"
    )
    bisect.add_argument(
        "--seeds-max", type=int, default=_MOST, metavar="N", help=f"runs of one commit at most (default: {_MOST})"
    )
    bisect.add_argument("--resume", type=Path, metavar="DIR", help="go on with one that was interrupted")
    bisect.add_argument("--exp", type=Path, metavar="DIR", help="where its directory goes (default: exp/ of the lab)")
    bisect.add_argument("--json", action="store_true", help="print commit, figures and all trials as JSON")
    bisect.set_defaults(run=_bisect)


def _bisect(arguments: argparse.Namespace) -> None:
    from wblab.bisect.repository import check_range
    from wblab.bisect.result import table, text
    from wblab.bisect.run import bisect
    from wblab.host.check import check_run
    from wblab.kernels.make import check_tools

    if arguments.resume and (arguments.good or arguments.metric):
        raise InputError("--resume: GOOD, BAD and --metric are those that it was begun with: leave them out")
    question = _resumed(arguments.resume, arguments.tree) if arguments.resume else _asked(arguments)
    check_run(question.spec)
    check_range(question.tree, question.good, question.bad)
    check_tools()
    directory = _directory(arguments)
    try:
        found = bisect(question, directory, _say)
    except KeyboardInterrupt:
        _say(f"to go on: {shlex.join(_going_on(directory, question.tree))}")
        raise
    if arguments.json:
        print(json.dumps({"directory": str(directory)} | question.to_json() | found.to_json(), indent=2))
    else:
        print("\n".join(map(printable, [*text(found), ""])))
        table(found).show()
        print(printable(str(directory)))
    if not found.first_bad:
        raise WblabError(f"the first bad commit is one of {len(found.possible)}: those between were skipped")


def _asked(arguments: argparse.Namespace) -> "Question":
    """Return the question in the arguments. Raises InputError."""
    from wblab.bisect.metric import named_metric
    from wblab.bisect.repository import find_commit
    from wblab.bisect.result import Question
    from wblab.lab.specfile import find_spec, read_spec

    if not (arguments.good and arguments.bad and arguments.metric):
        raise InputError("give GOOD, BAD and --metric LOAD.METRIC, or --resume DIR: see wblab bisect --help")
    if arguments.seeds_max < _LEAST:
        raise InputError(f"--seeds-max: with fewer than {_LEAST} seeds nothing can be told apart")
    spec = read_spec(find_spec(arguments.spec), arguments.settings)
    metric = named_metric(arguments.metric, spec)
    tree = arguments.tree.resolve()
    good, bad = (find_commit(tree, revision) for revision in (arguments.good, arguments.bad))
    return Question(tree, good, bad, metric, spec, arguments.seeds_max)


def _directory(arguments: argparse.Namespace) -> Path:
    from wblab.bisect.run import new_directory
    from wblab.lab.specfile import RESULTS

    resumed: Path | None = arguments.resume
    return resumed or new_directory(arguments.exp or RESULTS)


def _resumed(directory: Path, tree: Path) -> "Question":
    """Return the question that a directory is about; what is built is the tree that the user names. Raises InputError.

    A directory may be a stranger's, and building a tree runs programs of it.
    """
    from wblab.bisect.repository import find_commit
    from wblab.bisect.run import read_question

    question = read_question(directory)
    if tree.resolve() != question.tree:
        command = shlex.join(_going_on(directory, question.tree))
        raise InputError(
            f"{directory} is about {question.tree}, whose commits will be built: if you trust it, {command}"
        )
    for commit in (question.good, question.bad):
        find_commit(question.tree, commit.hash)
    return question


def _going_on(directory: Path, tree: Path) -> list[str]:
    return ["wblab", "bisect", "--resume", str(directory), "--tree", str(tree)]


def _say(line: str) -> None:
    print(printable(f"wblab: {line}"), file=sys.stderr)
