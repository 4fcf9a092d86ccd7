"""Facts read from the user's repository, which must not change."""

import subprocess
import time

import pytest

from wblab.core.errors import InputError
from wblab.kernels.sourcetree import copy
from wblab.study.designs.bisect.repository import (
    check_range,
    find_commit,
    git,
    history,
    parents,
    reader,
    touched,
    worktree,
)
from wblab.study.designs.bisect.run import GitSession


def test_a_commit_is_found_by_any_of_its_names(repository):
    repository.git("tag", "v7.3")
    found = find_commit(repository.path, "v7.3")
    assert found == find_commit(repository.path / "arch", "HEAD") == find_commit(repository.path, found.hash[:10])
    assert (found.author, found.subject) == ("Ann <ann@localhost>", "first")
    assert found.date[4] == "-"


@pytest.mark.parametrize("revision", ["nothing", "HEAD:Makefile", "--all", "", "HEAD~9"])
def test_an_unknown_commit_is_refused(repository, revision):
    with pytest.raises(InputError, match="has no commit"):
        find_commit(repository.path, revision)


def test_a_directory_without_git_is_refused(tmp_path):
    for place in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(InputError, match="is not in a git repository"):
            find_commit(place, "HEAD")


def test_good_must_be_an_ancestor_of_bad(repository):
    first, second = (find_commit(repository.path, commit) for commit in repository.line(2))
    check_range(repository.path, first, second)
    with pytest.raises(InputError, match="swap the two"):
        check_range(repository.path, second, first)
    with pytest.raises(InputError, match="the same commit"):
        check_range(repository.path, first, first)
    repository.git("checkout", "--quiet", "-b", "side", first.hash)
    side = find_commit(repository.path, repository.commit("side"))
    with pytest.raises(InputError, match="is not an ancestor of"):
        check_range(repository.path, second, side)


def test_commits_without_a_kernel_are_refused(repository):
    first = find_commit(repository.path, "HEAD")
    repository.git("rm", "--quiet", "-r", "arch")
    repository.git("commit", "--quiet", "-m", "no kernel")
    with pytest.raises(InputError, match=r"BAD, .*, is not a kernel's commit"):
        check_range(repository.path, first, find_commit(repository.path, "HEAD"))


def test_the_history_lists_parents_before_children(repository):
    commits = repository.line(4)
    found = history(repository.path, commits[0], commits[3])
    assert [commit.hash for commit in found] == commits[1:]
    assert found[1] == find_commit(repository.path, commits[2])
    assert parents(repository.path, commits[2]) == [commits[1]]
    assert parents(repository.path, commits[0]) == []


def test_folders_that_commits_change_are_counted(repository, tmp_path):
    for name in ("mm/slab.c", "mm/vmscan.c", "fs/ext4/super.c", "include/linux/mm.h", "arch/arm/mm/a.c", "tools/x.py"):
        (repository.path / name).parent.mkdir(parents=True, exist_ok=True)
        (repository.path / name).write_text("1")
    both = [repository.commit("all"), repository.commit("one", Kbuild="2")]
    assert touched(repository.path, both, tmp_path / "none") == {"mm": 2, "fs/ext4": 1, "include/linux": 1, "Kbuild": 1}
    (tmp_path / "objects/mm").mkdir(parents=True)
    (tmp_path / "objects/mm/slab.o").touch()
    assert touched(repository.path, both[:1], tmp_path / "objects") == {"mm": 1, "include/linux": 1}
    assert touched(repository.path, [], tmp_path) == {}


def test_the_repository_is_unchanged(repository, report):
    commits = repository.line(5)
    (repository.path / "file").write_text("not committed\n")
    (repository.path / ".git/hooks/post-checkout").write_text(f"#!/bin/sh\ntouch {repository.path}/hook\n")
    (repository.path / ".git/hooks/post-checkout").chmod(0o755)
    before = repository.state()
    with worktree(repository.path, commits[0], report) as made:
        session = GitSession(made.tree, commits[0], commits[4])
        for commit in iter(session.next, None):
            made.checkout(commit, report)
            assert (made.tree / "file").read_text() == f"{commits.index(commit)}\n"
            session.mark(commit, "bad")
        assert session.first_bad == commits[1]
        assert "git bisect start" in session.log
        (made.objects / "tree").mkdir(parents=True)
        (made.objects / "times.json").touch()
    assert repository.state() == before
    assert (repository.path / "file").read_text() == "not committed\n"
    assert not made.tree.exists()
    assert [path.name for path in made.objects.iterdir()] == ["times.json"]  # for the next bisection


def test_files_of_a_commit_are_read_without_a_checkout(repository):
    (repository.path / "file").write_bytes(b"a\r\n\xff")
    repository.git("add", "file")
    repository.git("commit", "--quiet", "-m", "bytes")
    read = reader(repository.path, "HEAD")
    assert (read("file"), read("Makefile"), read("none")) == (b"a\r\n\xff", b"VERSION = 7\nPATCHLEVEL = 3\n", None)


def test_only_changed_files_are_written_and_build_copies_are_independent(repository, report, tmp_path):
    commits = repository.line(3)
    with worktree(repository.path, commits[0], report) as made:
        time.sleep(1.1)  # git compares whole seconds
        copy(made.tree, ["Makefile"], tmp_path / "copy")
        before = (made.tree / "Makefile").stat()
        made.checkout(commits[2], report)
        after = (made.tree / "Makefile").stat()
    assert before.st_nlink == 1
    assert (after.st_mtime_ns, after.st_ino) == (before.st_mtime_ns, before.st_ino)


def test_the_user_s_own_bisection_is_not_disturbed(repository, report):
    commits = repository.line(5)
    repository.git("bisect", "start", commits[4], commits[0])
    before = repository.state(), repository.git("bisect", "log")
    with worktree(repository.path, commits[0], report) as made:
        session = GitSession(made.tree, commits[0], commits[4])
        session.mark(commits[2], "good")
    assert (repository.state(), repository.git("bisect", "log")) == before


def test_a_work_tree_is_removed_after_an_error_and_after_a_kill(repository, report):
    head = repository.git("rev-parse", "HEAD")
    before = repository.state()
    with pytest.raises(KeyboardInterrupt), worktree(repository.path, head, report):
        raise KeyboardInterrupt
    assert repository.state() == before
    left = worktree(repository.path, head, report)
    made = left.__enter__()  # never left, as after a kill; the lock would end with the process
    (made.tree / "half").touch()
    del left
    with worktree(repository.path, head, report) as again:
        assert again == made
        assert not (again.tree / "half").exists()
    assert repository.state() == before


def test_git_settings_for_another_repository_are_ignored(repository, monkeypatch, tmp_path):
    monkeypatch.setenv("GIT_DIR", str(tmp_path))
    assert find_commit(repository.path, "HEAD").subject == "first"


def test_missing_git_is_reported(repository, monkeypatch):
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: (_ for _ in ()).throw(FileNotFoundError()))
    with pytest.raises(InputError, match="git is not installed"):
        git(repository.path, "status")
