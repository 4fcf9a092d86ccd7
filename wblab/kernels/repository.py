"""A kernel's source as a git repository, with a commit for each patch: what a bisection and a comparison take."""

import shutil
from collections.abc import Sequence
from pathlib import Path

from wblab.core.errors import InputError
from wblab.kernels import patches, tree
from wblab.kernels.git import git
from wblab.kernels.mailbox import UserPatch
from wblab.kernels.patched import Base
from wblab.lab.progress import Report

# The same patches give the same commits. Git would tidy up in the background, in a directory that is renamed.
_COMMITTING = {
    "GIT_AUTHOR_NAME": "wblab",
    "GIT_AUTHOR_EMAIL": "wblab@localhost",
    "GIT_AUTHOR_DATE": "2000-01-01T00:00:00Z",
    "GIT_COMMITTER_NAME": "wblab",
    "GIT_COMMITTER_EMAIL": "wblab@localhost",
    "GIT_COMMITTER_DATE": "2000-01-01T00:00:00Z",
    "GIT_CONFIG_COUNT": "1",
    "GIT_CONFIG_KEY_0": "gc.auto",
    "GIT_CONFIG_VALUE_0": "0",
}


def write(base: Base, given: Sequence[UserPatch], target: Path, report: Report) -> str:
    """Write the source and the patches as commits into a new directory; return the last commit's hash.

    Raises InputError if the directory exists or a patch does not apply, WblabError if git fails.
    """
    if target.exists():
        raise InputError(f"{target} exists: give a new directory")
    base.check(given)
    staged = target.with_name(f"{target.name}.part")
    try:
        report(None, f"copying {base.source.description}")
        tree.copy(base.source.tree, tree.files(base.source.tree), staged)
        git(staged, "init", "--quiet", "--initial-branch=main")
        report(None, "committing the source")
        _commit(staged, f"Linux {tree.version(staged)}: {base.source.description}")
        for place, item in enumerate(given):
            report((place + 1) / len(given), item.subject)
            patches.push(staged, [item.patch], base.source.description)
            _commit(staged, item.subject)
        last = git(staged, "rev-parse", "HEAD").stdout.strip()
        staged.rename(target)
    except OSError as error:
        raise InputError(f"cannot write {target}: {error.strerror}") from None
    finally:
        shutil.rmtree(staged, ignore_errors=True)
    return last


def _commit(folder: Path, subject: str) -> None:
    git(folder, "add", "--all", "--force")  # a kernel's .gitignore names files that its archive has
    git(folder, "commit", "--quiet", "--allow-empty", "--no-gpg-sign", "--message", subject, environment=_COMMITTING)
