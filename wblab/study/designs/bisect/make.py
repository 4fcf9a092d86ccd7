"""Ask which commit changed a metric, or go on with that, and write the report."""

import shlex
from dataclasses import dataclass
from pathlib import Path

from wblab.analysis.groups.resultlist import study_named
from wblab.core.errors import InputError
from wblab.host.check import check_run
from wblab.kernels.make import check_tools
from wblab.lab.formats import REPORT
from wblab.lab.results import SPECS
from wblab.lab.specfile import read_spec
from wblab.report.page import write
from wblab.study.asked import StudyAnswer, StudyRequest
from wblab.study.designs.bisect import NAME
from wblab.study.designs.bisect.bisection import PLAIN, Walk
from wblab.study.designs.bisect.measuring import named_metric
from wblab.study.designs.bisect.report import report
from wblab.study.designs.bisect.repository import check_range, find_commit
from wblab.study.designs.bisect.result import BisectedFigure, one_of
from wblab.study.designs.bisect.run import bisect, new_store, open_store, resume_command, resumed

_MOST = 34  # seeds of a commit


@dataclass(frozen=True, kw_only=True)
class CommitsRequest(StudyRequest):
    """What a bisection is asked for.

    good, bad: revisions of the repository in `tree`. metric: LOAD.METRIC. spec: what to run. walk: which commits.
    """

    good: str = ""
    bad: str = ""
    metric: str = ""
    tree: Path = Path()
    spec: str = "base"
    walk: Walk = PLAIN


def make(asked: CommitsRequest) -> StudyAnswer:
    """Find the commit that changed a metric, or go on with that. One that is not found is a lack."""
    if asked.resume and (asked.good or asked.metric or asked.walk != PLAIN):
        raise InputError(
            "--resume keeps GOOD, BAD, --metric and the commits' options of the first call: leave them out"
        )
    store = open_store(study_named(asked.resume, asked.results, NAME)) if asked.resume else None
    question = resumed(store, asked.tree) if store else _question(asked)
    check_run(question.spec)
    check_range(question.tree, question.good, question.bad)
    check_tools()
    store = store or new_store(question, asked.results)
    directory = store.path
    try:
        found = bisect(question, store, asked.note, asked.jobs)
    except KeyboardInterrupt:
        asked.note(f"to resume: {shlex.join(resume_command(directory, question.tree))}")
        raise
    told = report(found, directory)
    lack = "" if found.first_bad else f"the first {question.walk.new} commit is {one_of(found)}"
    return StudyAnswer(directory, told, (write(told, directory / REPORT),), lack=lack)


def _question(asked: CommitsRequest) -> BisectedFigure:
    """Return the question that is asked. Raises InputError."""
    if not (asked.good and asked.bad and asked.metric):
        raise InputError("give GOOD, BAD and --metric LOAD.METRIC, or --resume DIR: see wblab bisect --help")
    spec = read_spec(SPECS.find(asked.spec), asked.settings)
    metric = named_metric(asked.metric, spec)
    tree = asked.tree.resolve()
    good, bad = (find_commit(tree, revision) for revision in (asked.good, asked.bad))
    asked.walk.check()
    return BisectedFigure(tree, good, bad, metric, spec, asked.seeds or _MOST, asked.walk)
