"""Resume a bisection. Its directory may come from somebody else, and building a tree runs that tree's programs."""

import shlex
from pathlib import Path

from wblab.core.errors import InputError
from wblab.study.designs.bisection.repository import find_commit
from wblab.study.designs.bisection.result import Question
from wblab.study.designs.bisection.run import question_of
from wblab.study.store import Store


def resumed(store: Store, tree: Path) -> Question:
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
