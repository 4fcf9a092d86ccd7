"""wblab bisect."""

import argparse
import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from wblab.commands.common import add_exp, add_jobs, add_json, add_removed, add_resume, add_settings, results, whole
from wblab.core.errors import InputError, WblabError
from wblab.lab.printable import printable

if TYPE_CHECKING:
    from wblab.study.designs.bisection.result import Question

_MOST = 34
_LEAST = 3  # seeds: with fewer, nothing can be told apart


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = (
        "Find the commit between GOOD and BAD, two revisions of a kernel's git repository, that changed a metric: "
        "git's bisection, with a kernel built for each step, and as many runs as the difference needs. Your work tree "
        "is not touched. Commits that do not build or run are skipped."
    )
    parser.add_argument("good", nargs="?", metavar="GOOD", help="a revision from before the change")
    parser.add_argument("bad", nargs="?", metavar="BAD", help="one from after it")
    parser.add_argument("--metric", metavar="LOAD.METRIC", help="what changed: mw1.longest_pause_s")
    parser.add_argument("--tree", type=Path, default=Path(), metavar="PATH", help="the repository (default: here)")
    parser.add_argument("--spec", default="base", metavar="SPEC", help="what to run, as for wblab run (default: base)")
    add_settings(parser)
    most = f"runs of one commit at most (default: {_MOST})"
    parser.add_argument("--seeds", type=whole(_LEAST), default=_MOST, metavar="N", help=most)
    add_removed(parser, "--seeds-max", "--seeds")
    add_jobs(parser)
    add_resume(parser)
    add_exp(parser, "its directory goes")
    add_json(parser, "print commit, figures and all trials as JSON")
    parser.set_defaults(run=_bisect)


def _bisect(arguments: argparse.Namespace) -> None:
    from wblab.commands.many import named
    from wblab.host.check import check_run
    from wblab.kernels.make import check_tools
    from wblab.study.designs.bisection.repository import check_range
    from wblab.study.designs.bisection.result import table, text
    from wblab.study.designs.bisection.resume import going_on, resumed
    from wblab.study.designs.bisection.run import bisect, new_store, open_store

    if arguments.resume and (arguments.good or arguments.metric):
        raise InputError("--resume: GOOD, BAD and --metric are those that it was begun with: leave them out")
    store = open_store(named(arguments, "bisect")) if arguments.resume else None
    question = resumed(store, arguments.tree) if store else _asked(arguments)
    check_run(question.spec)
    check_range(question.tree, question.good, question.bad)
    check_tools()
    store = store or new_store(question, results(arguments))
    directory = store.path
    try:
        found = bisect(question, store, _say, arguments.jobs)
    except KeyboardInterrupt:
        _say(f"to go on: {shlex.join(going_on(directory, question.tree))}")
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
    from wblab.lab.named import SPECS
    from wblab.lab.specfile import read_spec
    from wblab.study.designs.bisection.metric import named_metric
    from wblab.study.designs.bisection.repository import find_commit
    from wblab.study.designs.bisection.result import Question

    if not (arguments.good and arguments.bad and arguments.metric):
        raise InputError("give GOOD, BAD and --metric LOAD.METRIC, or --resume DIR: see wblab bisect --help")
    spec = read_spec(SPECS.find(arguments.spec), arguments.settings)
    metric = named_metric(arguments.metric, spec)
    tree = arguments.tree.resolve()
    good, bad = (find_commit(tree, revision) for revision in (arguments.good, arguments.bad))
    return Question(tree, good, bad, metric, spec, arguments.seeds)


def _say(line: str) -> None:
    print(printable(f"wblab: {line}"), file=sys.stderr)
