"""A kernel's source as a git repository, with a commit for each patch: what a bisection and a comparison take."""

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from wblab.core.errors import InputError, WblabError
from wblab.kernels import patches, tree
from wblab.kernels.mailbox import UserPatch
from wblab.kernels.patched import Base
from wblab.lab.progress import Report

_SETTINGS = {
    "user.name": "wblab",
    "user.email": "wblab@localhost",
    "commit.gpgsign": "false",
    "core.hooksPath": "/dev/null",
    "gc.auto": "0",
}
_DATE = "2000-01-01T00:00:00Z"  # the same patches give the same commits


def write(base: Base, given: Sequence[UserPatch], target: Path, report: Report) -> str:
    """Write the source and the patches as commits into a new directory; return the last commit's hash.

    Raises InputError if the directory exists or a patch does not apply, WblabError if git fails.
    """
    if target.exists():
        raise InputError(f"{target} exists: give a new directory")
    if not shutil.which("git"):
        raise InputError("git is not installed: install it first")
    base.check(given)
    staged = target.with_name(f"{target.name}.part")
    try:
        report(None, f"copying {base.source.description}")
        tree.copy(base.source.tree, tree.files(base.source.tree), staged)
        _git(staged, "init", "--quiet", "--initial-branch=main")
        report(None, "committing the source")
        _commit(staged, f"Linux {tree.version(staged)}: {base.source.description}")
        for place, item in enumerate(given):
            report((place + 1) / len(given), item.subject)
            patches.push(staged, [item.patch], base.source.description)
            _commit(staged, item.subject)
        last = _git(staged, "rev-parse", "HEAD")
        staged.rename(target)
    except OSError as error:
        raise InputError(f"cannot write {target}: {error.strerror}") from None
    finally:
        shutil.rmtree(staged, ignore_errors=True)
    return last


def _commit(folder: Path, subject: str) -> None:
    _git(folder, "add", "--all", "--force")  # a kernel's .gitignore names files that its archive has
    _git(folder, "commit", "--quiet", "--allow-empty", "--message", subject)


def _git(folder: Path, *arguments: str) -> str:
    settings = [word for key, value in _SETTINGS.items() for word in ("-c", f"{key}={value}")]
    environment = {**os.environ, "GIT_AUTHOR_DATE": _DATE, "GIT_COMMITTER_DATE": _DATE, "LC_ALL": "C"}
    done = subprocess.run(
        ["git", *settings, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise WblabError(f"git {arguments[0]} failed in {folder}: {' '.join(done.stderr.split())}")
    return done.stdout.strip()
