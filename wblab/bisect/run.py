"""One bisection, and its directory.

    exp/<date>_bisect/
      bisect.json      format; the question, with the whole spec; what was tried so far, and the answer
      git-bisect.log   what `git bisect replay` takes
      runs/            <commit>-s<seed>, an ordinary run directory each; _… where one failed

To resume is to bisect once more: kernels and runs that are there are not made again, and decide as they did.
"""

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from wblab.bisect.measure import Measurements, made_run
from wblab.bisect.repository import Commit, Worktree, find_commit, history, parents, worktree
from wblab.bisect.result import Found, Question, no_difference, trial_json, trial_line
from wblab.bisect.search import Ends, Search, Trial, short
from wblab.bisect.session import GitSession
from wblab.core.errors import InputError, WblabError
from wblab.core.files import replace_file
from wblab.host.jobs import working
from wblab.host.machine import processors
from wblab.host.request import Request
from wblab.kernels import Kernel, build_tree
from wblab.lab.formats import BISECTION, BISECTION_LOG, BISECTION_RECORD, RUNS, write_json
from wblab.lab.progress import Report, bar
from wblab.lab.results import commit, stage

Say = Callable[[str], None]


def new_directory(results: Path) -> Path:
    """Make a directory for a bisection. Raises InputError."""
    try:
        directory = commit(stage(results, "bisect"))
        (directory / RUNS).mkdir()
    except OSError as error:
        raise InputError(f"cannot make a directory in {str(results)!r}: {error.strerror or error}") from None
    return directory


def read_question(directory: Path) -> Question:
    """Return the question that a directory is about. Raises InputError."""
    record = directory / BISECTION_RECORD
    if (directory / RUNS).is_symlink():
        raise InputError(f"{directory / RUNS} is a link: runs would go elsewhere")
    value = BISECTION.read(record)
    try:
        return Question.from_json(value)
    except InputError as error:
        raise InputError(f"{record}: {error}") from None


def bisect(question: Question, directory: Path, say: Say) -> Found:
    """Answer a question; its record is brought up to date with every commit that was tried, and `say` hears of it.

    Raises WblabError where GOOD or BAD cannot be measured, or where the two do not differ.
    """
    commits = {commit.hash: commit for commit in (question.good, question.bad)}
    tried: list[dict[str, Any]] = []

    def write(answer: dict[str, Any]) -> None:
        head = BISECTION.head() | question.to_json()
        write_json(directory / BISECTION_RECORD, head | {"tried": tried} | answer)

    def tell(trial: Trial) -> None:
        commit = commits.setdefault(trial.commit, find_commit(question.tree, trial.commit))
        tried.append(trial_json(trial, commit))
        write({})
        say(trial_line(trial, commit, question.metric))

    write({})

    def one(request: Request) -> Path:
        return made_run(request, directory / RUNS)

    # In real time, two runs at once would measure each other.
    at_once = processors() if question.spec.clock.mode == "virtual" else 1
    with ExitStack() as stack:
        workers = stack.enter_context(working(one, at_once))
        with bar("bisect") as report:
            made = stack.enter_context(worktree(question.tree, question.good.hash, report))
        lab = Measurements(_builder(question.tree, made), question.spec, question.metric, workers)
        search = Search(lab, question.most, bar, tell)
        ends = search.ends(question.good.hash, question.bad.hash)
        if not ends.differ:
            reason = no_difference(question, ends)
            write({"reason": reason})
            raise WblabError(f"{reason} (see {directory})")
        session = GitSession(made.tree, question.good.hash, question.bad.hash)
        try:
            search.run(session, ends)
        finally:
            with replace_file(directory / BISECTION_LOG) as log:
                log.write(session.log.encode())
        found = _found(question, ends, search, session, commits)
    write(found.to_json())
    return found


def _builder(tree: Path, made: Worktree) -> Callable[[str, Report], Kernel]:
    def build(commit: str, report: Report) -> Kernel:
        made.checkout(commit, report)
        return build_tree(made.tree, f"{tree} ({short(commit)})", made.objects, report=report)

    return build


def _found(question: Question, ends: Ends, search: Search, session: GitSession, commits: dict[str, Commit]) -> Found:
    tree, first = question.tree, session.first_bad
    known = commits | {commit: find_commit(tree, commit) for commit in session.possible}
    if first and first not in known:
        known[first] = find_commit(tree, first)
    order = [question.good.hash, *history(tree, question.good.hash, question.bad.hash)]
    ordered = {commit: known[commit] for commit in order if commit in known}
    before = tuple(parents(tree, first)) if first else ()
    return Found(question, ends, tuple(search.trials), ordered, first, tuple(session.possible), before)
