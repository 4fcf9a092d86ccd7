import os
from pathlib import Path

import pytest

from wblab.core.errors import InputError
from wblab.kernels import sourcetree as trees


def test_the_series_comes_from_the_makefile(tree: Path) -> None:
    assert trees.version(tree) == "7.3"


def test_a_folder_without_a_kernel_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not a kernel tree"):
        trees.version(tmp_path)


def test_a_copy_is_independent_and_replaces_the_old_one(tree: Path, tmp_path: Path) -> None:
    (tree / "link").symlink_to("arch")
    (tree / "hello.c").chmod(0o755)
    target = tmp_path / "copy"
    target.mkdir()
    (target / "old").touch()
    trees.copy(tree, trees.files(tree), target)
    assert sorted(path.name for path in target.iterdir()) == ["Makefile", "arch", "hello.c", "link"]
    assert (target / "link").is_symlink()
    for name in trees.files(tree):
        ours, theirs = (tree / name).lstat(), (target / name).lstat()
        assert (ours.st_mode, ours.st_mtime_ns) == (theirs.st_mode, theirs.st_mtime_ns)
        assert ours.st_ino != theirs.st_ino
    before = (tree / "hello.c").read_text()
    with (target / "hello.c").open("a") as file:  # as an editor may do: in place
        file.write("changed")
    assert (tree / "hello.c").read_text() == before


def test_a_copy_may_share_blocks(tree: Path, tmp_path: Path) -> None:
    cloned = []

    def clone(source: str, target: str) -> bool:
        cloned.append(target)
        Path(target).touch()
        return True

    trees.copy(tree, trees.files(tree), tmp_path / "copy", clone)
    assert cloned == [f"{tmp_path}/copy/{name}" for name in trees.files(tree)]


def test_a_tree_that_was_built_in_place_is_refused(tree: Path) -> None:
    (tree / ".config").touch()
    with pytest.raises(InputError, match="mrproper"):
        trees.files(tree)


def test_the_identity_of_a_plain_tree_follows_its_files(tree: Path) -> None:
    before = trees.identity(tree)
    assert before == trees.identity(tree)
    os.utime(tree / "hello.c", ns=(1, 1))
    assert trees.identity(tree) != before


def test_the_identity_of_a_git_tree_follows_contents(git_tree: Path) -> None:
    before = trees.identity(git_tree)
    os.utime(git_tree / "hello.c", ns=(1, 1))
    assert trees.identity(git_tree) == before
    (git_tree / "new.c").touch()
    added = trees.identity(git_tree)
    (git_tree / "hello.c").write_text("changed")
    assert len({before, added, trees.identity(git_tree)}) == 3
    assert "dirty" in trees.describe(git_tree)


def test_a_tree_is_the_same_when_git_itself_calls_the_lab(
    git_tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a hook, for which git sets variables that name the caller's repository."""
    seen = trees.identity(git_tree), trees.describe(git_tree), trees.files(git_tree)
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "another"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "index"))
    assert (trees.identity(git_tree), trees.describe(git_tree), trees.files(git_tree)) == seen


def test_files_ignored_by_git_are_not_copied(git_tree: Path) -> None:
    (git_tree / ".gitignore").write_text("*.o\n.config\n")
    (git_tree / "hello.o").touch()
    (git_tree / ".config").touch()
    (git_tree / "Makefile").unlink()
    assert trees.files(git_tree) == [".gitignore", "arch/um/Kconfig", "hello.c"]
