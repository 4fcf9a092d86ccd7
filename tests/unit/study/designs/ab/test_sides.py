"""What A and B mean, and the steps between them."""

import shutil
from pathlib import Path

import pytest
from support.repository import make_repository

from wblab.core.errors import InputError
from wblab.study.designs.ab.sides import BuiltSide, Patched, Revision, cached, sides, steps, subject

PATCH = "--- a/{name}\n+++ b/{name}\n@@ -1 +1 @@\n-1\n+2\n"


@pytest.fixture
def repository(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    return make_repository(tmp_path / "linux", Makefile="VERSION = 7\nPATCHLEVEL = 3\n")


@pytest.fixture
def folder(tmp_path):
    """A directory of two patches."""
    (tmp_path / "mine").mkdir()
    for number in (1, 2):
        (tmp_path / f"mine/000{number}-change.patch").write_text(PATCH.format(name=f"file{number}"))
    return tmp_path / "mine"


def test_series_and_variants_are_kernels():
    a, b = sides(["7.2", "7.2+hz-1000"], Path())
    assert (a, b) == (BuiltSide("7.2"), BuiltSide("7.2+hz-1000"))
    assert b.label == "7.2+hz-1000"
    with pytest.raises(InputError, match="no variant 'hz-1001'"):
        sides(["7.2", "7.2+hz-1001"], Path())


def test_paths_are_trees_executables_archives_or_patches(repository, folder, tmp_path):
    (tmp_path / "linux.elf").write_bytes(b"\x7fELF")
    tree, executable = sides([str(repository.path), str(tmp_path / "linux.elf")], Path())
    assert tree == BuiltSide(str(repository.path))
    assert executable.label == "linux.elf"
    a, b = sides(["7.2", str(folder)], Path())
    assert isinstance(b, Patched)
    assert b.base == a == BuiltSide("7.2")
    assert [subject(b), b.label] == ["0002-change", "7.2+2 patches"]
    _, one = sides(["7.2", str(folder / "0001-change.patch")], Path())
    assert one.label == "7.2+0001-change"


def test_patches_may_be_first_and_have_a_base_of_their_own(folder):
    a, b = sides([str(folder), "7.2"], Path())
    assert (a.base, b) == (b, BuiltSide("7.2"))
    one, both = sides([str(folder / "0001-change.patch"), str(folder)], Path(), "7.2+hz-1000")
    assert one.base == both.base == BuiltSide("7.2+hz-1000")
    with pytest.raises(InputError, match="name the kernel that they are for with --base"):
        sides([str(folder), str(folder)], Path())
    with pytest.raises(InputError, match="is for patches, and neither"):
        sides(["7.2", "6.12"], Path(), "7.2")
    with pytest.raises(InputError, match="is of patches: give a series"):
        sides([str(folder), "7.2"], Path(), str(folder))


def test_commits_and_ranges_are_of_the_repository(repository):
    hashes = repository.line(4)
    a, b = sides([f"{hashes[0]}..HEAD"], repository.path)
    assert (a.commit.hash, b.commit.hash) == (hashes[0], hashes[3])
    assert sides([hashes[0], "main"], repository.path) == (a, b)
    assert a.label == hashes[0][:12]
    assert subject(b) == "change 3"


def test_a_commit_of_something_else_is_refused(repository):
    shutil.rmtree(repository.path / "arch")
    repository.commit("no kernel any more")
    with pytest.raises(InputError, match="is not a kernel's commit"):
        sides(["7.2", "HEAD"], repository.path)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (["7.2"], "is one kernel: give two"),
        (["../x"], "is one kernel: give two"),
        (["7.2", "./none.patch"], "check the path"),
        (["7.2", "nothing"], "no series .* nor a commit of"),
        (["7.2", "0123456789abcdef"], "no series .* build id"),
    ],
)
def test_what_is_neither_is_named(repository, given, reason):
    with pytest.raises(InputError, match=reason) as caught:
        sides(given, repository.path)
    assert "\n" not in str(caught.value)


def test_the_steps_of_a_range_are_its_commits(repository):
    hashes = repository.line(4)
    found = steps(*sides([f"{hashes[0]}..HEAD"], repository.path))
    assert [side.commit.hash for side in found] == hashes
    with pytest.raises(InputError, match="is not an ancestor"):
        steps(*sides([f"HEAD..{hashes[0]}"], repository.path))


def test_a_merge_is_one_step(repository):
    first = repository.git("rev-parse", "HEAD")
    repository.git("checkout", "--quiet", "-b", "side")
    repository.commit("aside", other="1\n")
    repository.git("checkout", "--quiet", "main")
    repository.commit("ahead", file="1\n")
    repository.git("merge", "--quiet", "--no-ff", "-m", "merged", "side")
    found = steps(*sides([f"{first}..main"], repository.path))
    assert [subject(side) for side in found] == ["first", "ahead", "merged"]


def test_the_steps_of_patches_apply_one_more_each(folder):
    a, b = sides(["7.2", str(folder)], Path())
    found = steps(a, b)
    assert [len(getattr(side, "patches", ())) for side in found] == [0, 1, 2]
    assert found[-1] == b
    assert isinstance(found[1], Patched)
    with pytest.raises(InputError, match="--each needs patches on A, or a range"):
        steps(*sides(["7.2", "6.12"], Path()))
    with pytest.raises(InputError, match="--each needs patches on A"):
        steps(b, a)


def test_only_builds_of_the_own_cache_may_run_unnamed(repository, tmp_path):
    assert cached(str(tmp_path / "cache/wblab/builds/0123/linux"))
    assert not cached(str(tmp_path / "cache/wblab/builds/../../evil/linux"))
    assert not cached("/tmp/linux")
    assert isinstance(sides(["HEAD", "7.2"], repository.path)[0], Revision)
