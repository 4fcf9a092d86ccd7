"""wblab bisect: find the commit that changed a metric."""

import argparse
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from wblab.commands.common import (
    add_exp,
    add_jobs,
    add_json,
    add_resume,
    add_settings,
    note,
    results,
    tell,
    whole,
)
from wblab.core.errors import InputError, WblabError
from wblab.lab.designs import BISECT

if TYPE_CHECKING:
    from wblab.study.designs.bisect.result import Question
    from wblab.study.designs.bisect.search import Walk

_MOST = 34
_LEAST = 3  # seeds: fewer give no interval


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = (
        "Find the commit between GOOD and BAD that changed a metric. GOOD and BAD are revisions of a kernel's git "
        "repository. Each step of git bisect builds a kernel and makes as many runs as the difference needs. Your "
        "work tree is not touched. Commits that do not build or run are skipped. A build runs the Makefiles and "
        "programs of each commit, and what the repository's git configuration names, as you."
    )
    parser.add_argument("good", nargs="?", metavar="GOOD", help="a revision before the change")
    parser.add_argument("bad", nargs="?", metavar="BAD", help="a revision after it")
    parser.add_argument("--metric", metavar="LOAD.METRIC", help="the metric that changed, such as mw1.longest_pause_s")
    parser.add_argument(
        "--tree", type=Path, default=Path(), metavar="PATH", help="the git repository (default: this directory)"
    )
    parser.add_argument("--spec", default="base", metavar="SPEC", help="what to run, as for wblab run (default: base)")
    add_settings(parser)
    words = parser.add_argument_group("commits")
    words.add_argument("--term-old", default="good", metavar="WORD", help="word for commits before it (default: good)")
    words.add_argument("--term-new", default="bad", metavar="WORD", help="word for commits after it (default: bad)")
    words.add_argument("--first-parent", action="store_true", help="at merges, follow the first parent alone")
    words.add_argument(
        "--path", action="append", default=[], metavar="PATH", help="try only commits that touch this path; repeatable"
    )
    most = f"maximum number of runs of one commit (default: {_MOST})"
    parser.add_argument("--seeds", type=whole(_LEAST), default=_MOST, metavar="N", help=most)
    add_jobs(parser)
    add_resume(parser)
    add_exp(parser, "the study's directory goes")
    add_json(parser, "print the commit, the metric and all trials as JSON")
    parser.set_defaults(run=_bisect)


def _bisect(arguments: argparse.Namespace) -> None:
    from wblab.commands.many import named
    from wblab.host.check import check_run
    from wblab.kernels.make import check_tools
    from wblab.lab.formats import REPORT
    from wblab.report.page import write
    from wblab.study.designs.bisect.report import report
    from wblab.study.designs.bisect.repository import check_range
    from wblab.study.designs.bisect.result import one_of
    from wblab.study.designs.bisect.run import bisect, new_store, open_store, resume_command, resumed
    from wblab.study.designs.bisect.search import PLAIN, Walk

    walk = Walk(arguments.term_old, arguments.term_new, arguments.first_parent, tuple(arguments.path))
    if arguments.resume and (arguments.good or arguments.metric or walk != PLAIN):
        raise InputError(
            "--resume keeps GOOD, BAD, --metric and the commits' options of the first call: leave them out"
        )
    store = open_store(named(arguments, BISECT)) if arguments.resume else None
    question = resumed(store, arguments.tree) if store else _question(arguments, walk)
    check_run(question.spec)
    check_range(question.tree, question.good, question.bad)
    check_tools()
    store = store or new_store(question, results(arguments))
    directory = store.path
    try:
        found = bisect(question, store, note, arguments.jobs)
    except KeyboardInterrupt:
        note(f"to resume: {shlex.join(resume_command(directory, question.tree))}")
        raise
    told = report(found, directory)
    tell(told, write(told, directory / REPORT), as_json=arguments.json)
    if not found.first_bad:
        raise WblabError(f"the first {question.walk.new} commit is {one_of(found)}")


def _question(arguments: argparse.Namespace, walk: "Walk") -> "Question":
    """Read the question from the arguments. Raises InputError."""
    from wblab.lab.results import SPECS
    from wblab.lab.specfile import read_spec
    from wblab.study.designs.bisect.measure import named_metric
    from wblab.study.designs.bisect.repository import find_commit
    from wblab.study.designs.bisect.result import Question

    if not (arguments.good and arguments.bad and arguments.metric):
        raise InputError("give GOOD, BAD and --metric LOAD.METRIC, or --resume DIR: see wblab bisect --help")
    spec = read_spec(SPECS.find(arguments.spec), arguments.settings)
    metric = named_metric(arguments.metric, spec)
    tree = arguments.tree.resolve()
    good, bad = (find_commit(tree, revision) for revision in (arguments.good, arguments.bad))
    walk.check()
    return Question(tree, good, bad, metric, spec, arguments.seeds, walk)
