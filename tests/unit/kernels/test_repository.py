"""A source becomes a git repository with a commit for each patch."""

import subprocess

import pytest

from wblab.cli import main
from wblab.core.errors import InputError
from wblab.kernels import source
from wblab.kernels.mailbox import read_patches
from wblab.kernels.patched import Base, write
from wblab.lab.progress import silent

PATCH = """Subject: [PATCH 1/2] mm: {new}

---
diff --git a/mm.c b/mm.c
--- a/mm.c
+++ b/mm.c
@@ -1 +1 @@
-{old}
+{new}
"""


@pytest.fixture
def base(tmp_path):
    kernel = tmp_path / "linux"
    (kernel / "arch/um").mkdir(parents=True)
    (kernel / "arch/um/Kconfig").touch()
    (kernel / "Makefile").write_text("VERSION = 7\nPATCHLEVEL = 2\n")
    (kernel / ".gitignore").write_text("*.c\n")
    (kernel / "mm.c").write_text("one\n")
    return Base(source.given(kernel))


@pytest.fixture
def given(tmp_path):
    folder = tmp_path / "patches"
    folder.mkdir()
    for number, (old, new) in enumerate((("one", "two"), ("two", "three"))):
        (folder / f"{number}.patch").write_text(PATCH.format(old=old, new=new))
    return folder


def git(folder, *arguments):
    return subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, text=True).stdout


def test_each_patch_is_a_commit_and_the_same_ones_are_the_same_commits(base, given, tmp_path):
    found = [write(base, read_patches(given), tmp_path / name, silent) for name in ("a", "b")]
    assert found[0] == found[1] == git(tmp_path / "a", "rev-parse", "HEAD").strip()
    subjects = git(tmp_path / "a", "log", "--format=%s").splitlines()
    assert subjects[:2] == ["mm: three", "mm: two"]
    assert subjects[2].startswith("Linux 7.2")
    assert git(tmp_path / "a", "show", "HEAD~1:mm.c") == "two\n"
    assert git(tmp_path / "a", "status", "--porcelain") == ""
    assert not (tmp_path / "a.part").exists()


def test_a_patch_that_does_not_apply_leaves_nothing(base, given, tmp_path):
    (given / "1.patch").write_text(PATCH.format(old="four", new="five"))
    with pytest.raises(InputError, match=r"1\.patch does not apply"):
        write(base, read_patches(given), tmp_path / "a", silent)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["linux", "patches"]


def test_a_directory_that_exists_stays(base, tmp_path):
    with pytest.raises(InputError, match="exists: give a new directory"):
        write(base, (), tmp_path, silent)


def test_a_variant_is_refused(tmp_path, capsys):
    assert main(["kernel", "info", "--source", "7.2+hz-1000", str(tmp_path / "a")]) == 2
    assert "give their patches with --patches" in capsys.readouterr().err


def test_a_caller_that_is_git_itself_names_no_other_repository(base, given, tmp_path, monkeypatch):
    other = tmp_path / "other"
    subprocess.run(["git", "init", "--quiet", str(other)], check=True)
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    write(base, read_patches(given), tmp_path / "a", silent)
    monkeypatch.delenv("GIT_DIR")
    assert len(git(tmp_path / "a", "log", "--format=%s").splitlines()) == 3
    assert git(other, "rev-list", "--all") == ""
