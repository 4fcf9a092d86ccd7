"""Run one bisection, in its directory.

    exp/<date>_bisect/
      study.json, runs/   as in any study, with one cell for each commit tried: see wblab.study.store
      bisect.json         format; the question, with the whole spec; the commits tried so far, and the answer
      git-bisect.log      input of `git bisect replay`

Resuming repeats the bisection. Kernels and runs that exist are used again, so they lead to the same decisions.
"""

import re
import shlex
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from wblab.core.errors import InputError, WblabError
from wblab.host.machine import processors
from wblab.kernels import Kernel, build_tree, check_patches, kept
from wblab.kernels.git import git
from wblab.kernels.objects import KEPT
from wblab.lab.formats import BISECTION, BISECTION_LOG, BISECTION_RECORD, STUDY_FILE, write_json
from wblab.lab.held import replace_file
from wblab.lab.progress import Report, steps
from wblab.study.cluster import forked
from wblab.study.designs.bisect import NAME
from wblab.study.designs.bisect.bisection import PLAIN, BisectionSearch, BisectionTrial, Ends, Verdict, Walk, short
from wblab.study.designs.bisect.measuring import Measurements
from wblab.study.designs.bisect.repository import (
    Worktree,
    find_commit,
    history,
    parents,
    reader,
    touched,
    worktree,
)
from wblab.study.designs.bisect.result import BisectedFigure, BisectionAnswer, no_difference, trial_json, trial_line
from wblab.study.plan import Plan
from wblab.study.store import Store

# git's own bisection, which handles merges and skipped commits.

# builtin/bisect.c ends the log with one of these lines; {} is the word for bad.
_FIRST_BAD, _POSSIBLE = r"^# first {} commit: \[([0-9a-f]+)\]", r"^# possible first {} commit: \[([0-9a-f]+)\]"
_ONLY_SKIPPED = 2  # exit code of git bisect when only skipped commits are left


class GitSession:
    """A `git bisect` in the lab's work tree, which also holds its state. It checks nothing out."""

    def __init__(self, tree: Path, good: str, bad: str, walk: Walk = PLAIN) -> None:
        self._tree, self._walk = tree, walk
        start = [*walk.for_start, "--no-checkout", bad, good, *walk.after]
        self._output = git(tree, "bisect", "start", *start).stdout

    def next(self) -> str | None:
        """Return the commit to try, or None at the end."""
        if self.first_bad or self._only_skipped:
            return None
        return git(self._tree, "rev-parse", "--verify", "BISECT_HEAD").stdout.strip()

    def mark(self, commit: str, verdict: Verdict) -> None:
        """Record a commit's verdict."""
        self._output = git(self._tree, "bisect", self._walk.word(verdict), commit, allowed=(0, _ONLY_SKIPPED)).stdout

    @property
    def steps_left(self) -> int:
        """Estimate how many commits remain to be tried, the next one included."""
        roughly = re.search(r"\(roughly (\d+) steps?\)", self._output)
        return int(roughly[1]) + 1 if roughly else 1

    @property
    def log(self) -> str:
        """The log so far, input of `git bisect replay`."""
        return git(self._tree, "bisect", "log").stdout

    @property
    def first_bad(self) -> str | None:
        """The first bad commit, once it is known."""
        found = re.search(_FIRST_BAD.format(self._walk.new), self.log, re.MULTILINE)
        return found[1] if found else None

    @property
    def _only_skipped(self) -> list[str]:
        return re.findall(_POSSIBLE.format(self._walk.new), self.log, re.MULTILINE)

    @property
    def possible(self) -> list[str]:
        """If the first bad commit is not known: all that could be it, oldest first."""
        if self.first_bad:
            return []
        goods = ["--not", f"--glob=refs/bisect/{self._walk.old}-*"]
        first = ["--first-parent"] if self._walk.first_parent else []
        listed = ["--topo-order", "--reverse", *first, f"refs/bisect/{self._walk.new}", *goods, *self._walk.after]
        return git(self._tree, "rev-list", *listed).stdout.split()


PrintLine = Callable[[str], None]


def new_store(question: BisectedFigure, results: Path) -> Store:
    """Make the directory of a bisection. Raises InputError."""
    seeds = tuple(range(1, question.most + 1))
    return Store.create(results, Plan(NAME, seeds, (), design=NAME, about=question.to_json()), {})


def open_store(directory: Path) -> Store:
    """Open the directory of a bisection. Raises InputError."""
    return Store.open(directory, NAME)


def question_of(store: Store) -> BisectedFigure:
    """Read the question of a bisection from its directory. Raises InputError."""
    try:
        return BisectedFigure.from_json(store.plan.about)
    except InputError as error:
        raise InputError(f"{store.path / STUDY_FILE}: {error}") from None


def bisect(question: BisectedFigure, store: Store, print_line: PrintLine, jobs: int | None = None) -> BisectionAnswer:
    """Answer a question. After every commit tried, update the record and describe the trial with `print_line`.

    Raises WblabError if GOOD or BAD cannot be measured, or if the two do not differ.
    """
    directory = store.path
    commits = {commit.hash: commit for commit in (question.good, question.bad)}
    tried: list[dict[str, Any]] = []

    def write(outcome: dict[str, Any]) -> None:
        write_json(directory / BISECTION_RECORD, BISECTION.head() | question.to_json() | {"tried": tried} | outcome)

    def record(trial: BisectionTrial) -> None:
        commit = commits.setdefault(trial.commit, find_commit(question.tree, trial.commit))
        tried.append(trial_json(trial, commit))
        write({})
        print_line(trial_line(trial, commit, question))

    write({})

    # In real time, runs beside each other would disturb each other.
    at_once = (jobs or processors()) if question.spec.clock.mode == "virtual" else 1
    with ExitStack() as stack:
        stack.enter_context(store.held())
        workers = stack.enter_context(forked(at_once, store.room(), ()))
        stack.callback(store.settle)
        with steps("bisect") as report:
            made = stack.enter_context(worktree(question.tree, question.good.hash, report))
        lab = Measurements(_builder(question, made, print_line), question.spec, question.metric, store, workers)
        search = BisectionSearch(lab, question.most, steps, record)
        ends = search.ends(question.good.hash, question.bad.hash)
        if not ends.differ:
            reason = no_difference(question, ends)
            write({"reason": reason})
            raise WblabError(f"{reason} (see {directory})")
        session = GitSession(made.tree, question.good.hash, question.bad.hash, question.walk)
        try:
            search.run(session, ends)
        finally:
            with replace_file(directory / BISECTION_LOG) as log:
                log.write(session.log.encode())
        answer = _answer(question, ends, search, session)
        answer = replace(
            answer,
            patches={commit: kernel.patches for commit, kernel in lab.kernels.items()},
            touched=tuple(touched(question.tree, answer.possible, made.objects / KEPT).most_common()),
        )
    write(answer.to_json())
    return answer


def _builder(question: BisectedFigure, made: Worktree, print_line: PrintLine) -> Callable[[str, Report], Kernel]:
    """Return a function that builds a commit's kernel. It prints which patches were chosen if that changes."""
    said = ""

    def build(commit: str, report: Report) -> Kernel:
        def say(text: str) -> None:
            nonlocal said
            if text != said:
                print_line(f"{short(commit)}: {text}")
            said = text

        description = f"{question.tree} ({short(commit)})"
        report(None, "choosing patches")
        check_patches(reader(made.tree, commit), description)  # before the checkout, which may take long
        made.checkout(commit, report)
        options = question.spec.kernel.config
        built = build_tree(made.tree, description, made.objects, options=options, report=report, say=say)
        kept.mark_used(built, description)
        return built

    return build


def _answer(question: BisectedFigure, ends: Ends, search: BisectionSearch, session: GitSession) -> BisectionAnswer:
    first, possible = session.first_bad, tuple(session.possible)
    shown = {first, *possible, *(trial.commit for trial in (*ends.both, *search.trials))}
    all_commits = [question.good, *history(question.tree, question.good.hash, question.bad.hash)]
    return BisectionAnswer(
        question,
        ends,
        tuple(search.trials),
        {commit.hash: commit for commit in all_commits if commit.hash in shown},
        first,
        possible,
        tuple(parents(question.tree, first)) if first else (),
    )


# Resume a bisection. Its directory may come from somebody else, and building a tree runs that tree's programs.


def resumed(store: Store, tree: Path) -> BisectedFigure:
    """Return the question of a study to resume. Raises InputError if it is about another tree than the one named."""
    question, directory = question_of(store), store.path
    if tree.resolve() != question.tree:
        command = shlex.join(resume_command(directory, question.tree))
        raise InputError(
            f"{directory} builds commits of {question.tree}, and a build runs its programs: if you trust it, {command}"
        )
    for commit in (question.good, question.bad):
        find_commit(question.tree, commit.hash)
    return question


def resume_command(directory: Path, tree: Path) -> list[str]:
    """Return the command that resumes a bisection."""
    return ["wblab", "bisect", "--resume", str(directory), "--tree", str(tree)]
