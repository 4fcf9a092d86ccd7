"""wblab bisect: find the commit that changed a metric."""

import argparse
from pathlib import Path

from wblab.commands.common import (
    add_exp,
    add_jobs,
    add_json,
    add_resume,
    add_settings,
    asked_of,
    show,
    whole,
)

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
    from wblab.study.designs.bisect.bisection import Walk
    from wblab.study.designs.bisect.make import CommitsRequest, make

    walk = Walk(arguments.term_old, arguments.term_new, arguments.first_parent, tuple(arguments.path))
    show(make(asked_of(arguments, CommitsRequest, walk=walk)), as_json=arguments.json)
