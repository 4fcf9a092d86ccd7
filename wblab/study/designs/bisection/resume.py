"""Going on with a bisection whose directory may be a stranger's: building a tree runs programs of it."""

import shlex
from pathlib import Path

from wblab.core.errors import InputError
from wblab.study.designs.bisection.repository import find_commit
from wblab.study.designs.bisection.result import Question
from wblab.study.designs.bisection.run import question_of
from wblab.study.store import Store


def resumed(store: Store, tree: Path) -> Question:
    """Return the question that a directory is about. Raises InputError where it is not about the tree that is named."""
    question, directory = question_of(store), store.path
    if tree.resolve() != question.tree:
        command = shlex.join(going_on(directory, question.tree))
        raise InputError(
            f"{directory} is about {question.tree}, whose commits will be built: if you trust it, {command}"
        )
    for commit in (question.good, question.bad):
        find_commit(question.tree, commit.hash)
    return question


def going_on(directory: Path, tree: Path) -> list[str]:
    """Return the command that goes on with a bisection."""
    return ["wblab", "bisect", "--resume", str(directory), "--tree", str(tree)]
