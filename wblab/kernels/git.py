"""Git, called in a directory of its own choice, whoever called the lab."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from wblab.core.errors import InputError, WblabError

_NONE: Mapping[str, str] = MappingProxyType({})


def git(
    tree: Path, *arguments: str, allowed: tuple[int, ...] = (0,), environment: Mapping[str, str] = _NONE
) -> "subprocess.CompletedProcess[str]":
    """Run git in a tree, without the user's hooks. Raises WblabError unless the exit code is in `allowed`.

    environment: variables in addition to the user's. Raises InputError if git is not installed.
    """
    done = git_bytes(tree, *arguments, environment=environment)
    output, errors = (text.decode(errors="replace") for text in (done.stdout, done.stderr))
    if done.returncode not in allowed:
        reason = " ".join((errors or output).split()) or f"exit code {done.returncode}"
        raise WblabError(f"git {arguments[0]} failed in {tree}: {reason}")
    return subprocess.CompletedProcess(done.args, done.returncode, output, errors)


def git_bytes(
    tree: Path, *arguments: str, environment: Mapping[str, str] = _NONE
) -> "subprocess.CompletedProcess[bytes]":
    """Run git in a tree, without the user's hooks, and return what came out. Raises InputError if there is no git."""
    # The caller may be git itself: then GIT_DIR and others name another repository, or another part of this one.
    kept = {name: value for name, value in os.environ.items() if name[:4] != "GIT_" or name.startswith("GIT_CONFIG")}
    settings = ["-c", f"core.hooksPath={os.devnull}", "-c", "core.fsmonitor=false"]
    command = ["git", "-C", str(tree), *settings, *arguments]
    try:
        return subprocess.run(
            command,
            env={**kept, "LC_ALL": "C", **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
    except FileNotFoundError:
        raise InputError("git is not installed: run 'sudo apt-get install git'") from None
