"""A tree's git configuration names programs everywhere: none of them runs when the lab looks at the tree."""

import os
import subprocess
from pathlib import Path

import pytest

from wblab.kernels import sourcetree as trees

PROGRAMS = (
    "core.fsmonitor", "core.sshCommand", "core.pager", "core.editor", "core.askPass", "core.gitProxy", "gpg.program",
    "filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "diff.external", "diff.evil.command",
    "diff.evil.textconv", "credential.helper", "pager.diff", "pager.describe", "interactive.diffFilter", "alias.diff",
    "merge.evil.driver", "sequence.editor", "uploadpack.packObjectsHook", "core.alternateRefsCommand",
)  # fmt: skip
OTHERS = {
    "filter.evil.required": "true",
    "core.untrackedCache": "true",
    "extensions.partialClone": "origin",
    "remote.origin.promisor": "true",
    "protocol.ext.allow": "always",
    "status.submoduleSummary": "true",
    "diff.submodule": "log",
}


def git(tree: Path, *words: str) -> str:
    command = ["git", "-C", str(tree), "-c", "user.name=a", "-c", "user.email=a@b", *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def arm(tree: Path, mark: Path) -> None:
    """Set every key that names a program, so that each makes a file; and make git look at all files."""
    mark.mkdir(exist_ok=True)
    program = mark.with_name("program")
    program.write_text(f'#!/bin/sh\ntouch "{mark}/$$"\nexit 1\n')
    program.chmod(0o755)
    hooks = tree / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("post-index-change", "fsmonitor-watchman", "reference-transaction", "post-checkout"):
        (hooks / name).write_text(program.read_text())
        (hooks / name).chmod(0o755)
    for name in PROGRAMS:
        git(tree, "config", name, str(program))
    git(tree, "config", "remote.origin.url", f"ext::{program}")
    for name, value in OTHERS.items():
        git(tree, "config", name, value)
    (tree / ".git" / "info" / "attributes").write_text("* filter=evil diff=evil merge=evil\n")
    (tree / ".gitattributes").write_text("* filter=evil diff=evil\n")
    for path in tree.rglob("*"):
        if path.is_file() and ".git" not in path.parts:
            os.utime(path, ns=(1, 1))


@pytest.fixture
def armed(git_tree: Path, tmp_path: Path) -> tuple[Path, Path]:
    """Return a tree with a nested repository, and where their programs leave a file."""
    nested = git_tree / "nested"
    nested.mkdir()
    git(nested, "init", "-q")
    (nested / "file").write_text("x")
    git(nested, "add", "file")
    git(nested, "commit", "-q", "-m", "nested")
    git(git_tree, "add", "nested")
    git(git_tree, "commit", "-q", "-m", "nested")
    git(git_tree, "tag", "v7.3-evil")
    (git_tree / "hello.c").write_text("another text\n")
    (git_tree / "new.c").write_text("new\n")
    for tree in (nested, git_tree):
        arm(tree, tmp_path / "marks")
    return git_tree, tmp_path / "marks"


def test_no_program_of_a_tree_s_configuration_runs(armed: tuple[Path, Path]) -> None:
    tree, marks = armed
    assert trees.identity(tree).startswith("git:")
    assert trees.describe(tree) == f"{tree} (v7.3-evil-dirty)"
    assert {"hello.c", "new.c", "Makefile"} <= set(trees.files(tree))
    assert list(marks.iterdir()) == []
    for words in (["status"], ["diff", "HEAD"]):  # the attack is real: plain git runs them
        subprocess.run(["git", "-C", str(tree), *words], check=False, capture_output=True)
    assert list(marks.iterdir()) != []


def test_no_transport_runs_for_an_object_that_is_missing(armed: tuple[Path, Path]) -> None:
    tree, marks = armed
    lost = git(tree, "-c", "core.fsmonitor=false", "rev-parse", "HEAD:hello.c").strip()
    (tree / ".git" / "objects" / lost[:2] / lost[2:]).unlink()
    trees.identity(tree)
    trees.describe(tree)
    assert list(marks.iterdir()) == []


def test_a_tree_s_own_git_files_are_not_written(armed: tuple[Path, Path]) -> None:
    tree, _ = armed
    before = {str(path): path.lstat().st_mtime_ns for path in (tree / ".git").rglob("*")}
    trees.identity(tree)
    trees.describe(tree)
    trees.files(tree)
    assert {str(path): path.lstat().st_mtime_ns for path in (tree / ".git").rglob("*")} == before


def test_the_identity_follows_head_changes_and_new_files(git_tree: Path) -> None:
    seen = [trees.identity(git_tree)]
    (git_tree / "hello.c").write_text("changed")
    seen.append(trees.identity(git_tree))
    git(git_tree, "commit", "-aqm", "changed")
    seen.append(trees.identity(git_tree))
    (git_tree / "link").symlink_to("hello.c")
    seen.append(trees.identity(git_tree))
    (git_tree / ".git" / "info" / "exclude").write_text("link\n")
    assert trees.identity(git_tree) == seen[2]
    assert len(set(seen)) == 4


def test_a_work_tree_of_a_repository_is_read(git_tree: Path, tmp_path: Path) -> None:
    git(git_tree, "worktree", "add", "-q", str(tmp_path / "other"))
    assert trees.identity(tmp_path / "other") == trees.identity(git_tree)
