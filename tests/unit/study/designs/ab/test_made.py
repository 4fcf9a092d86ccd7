"""The kernels of both sides: what cannot be applied is said before anything is built."""

from dataclasses import replace
from pathlib import Path

import pytest
from support.repository import make_repository

from wblab.core.errors import InputError
from wblab.kernels import Kernel
from wblab.kernels.patched import Base
from wblab.study.designs.ab import made
from wblab.study.designs.ab.differs import differs, options
from wblab.study.designs.ab.made import build_all, check_differ, check_unequal
from wblab.study.designs.ab.plan import asked
from wblab.study.designs.ab.sides import sides, steps

PATCH = "--- a/file\n+++ b/file\n@@ -1 +1 @@\n-{old}\n+{new}\n"


def kernel(name: str, *patches: str, source: str = "Debian", config: Path | None = None) -> Kernel:
    return Kernel(Path(name), config, "7.2", "7.2.11", "", ("0001-um.patch", *patches), name * 16, source, "gcc 12")


@pytest.fixture
def repository(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return make_repository(tmp_path / "linux", Makefile="VERSION = 7\nPATCHLEVEL = 3\n", file="1\n")


@pytest.fixture
def built(tmp_path, monkeypatch):
    """Replace builds; return the list of what was built, in order."""
    found = []

    def build(self, given, report, say):
        found.append([item.subject for item in given])
        return kernel(str(len(found)))

    def of_tree(tree, description, place, **_):
        found.append((tree / "file").read_text())
        return kernel(str(len(found)))

    monkeypatch.setattr(Base, "build", build)
    monkeypatch.setattr(made, "build_tree", of_tree)
    return found


@pytest.fixture
def mine(tmp_path):
    """A directory of two patches on a commit."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/1.patch").write_text(PATCH.format(old=1, new=2))
    (tmp_path / "mine/2.patch").write_text(PATCH.format(old=2, new=3))
    return tmp_path / "mine"


def test_each_patch_is_built_on_the_ones_before_it(repository, mine, built):
    states = steps(*sides(["HEAD", str(mine)], repository.path))
    kernels = build_all(states, print)
    assert built == ["1\n", ["1"], ["1", "2"]]
    assert len(kernels) == 3
    assert repository.git("worktree", "list").count("\n") == 0


def test_a_patch_that_does_not_apply_ends_it_before_a_build(repository, mine, built):
    (mine / "2.patch").write_text(PATCH.format(old=7, new=3))
    with pytest.raises(InputError, match=r"2\.patch does not apply to .*: hunk 1 of file \(line 1\)"):
        build_all(sides(["HEAD", str(mine)], repository.path), print)
    assert built == []


def test_commits_are_built_in_one_work_tree(repository, built):
    repository.commit("change", file="2\n")
    state = repository.state()
    build_all(sides(["HEAD~1..HEAD"], repository.path), print)
    assert built == ["1\n", "2\n"]
    assert repository.state() == state


def test_one_build_on_both_sides_is_nothing_to_compare():
    both = sides(["7.2", "7.2+hz-1000"], Path())
    check_differ(both, [kernel("a"), kernel("b")])
    with pytest.raises(InputError, match=r"A, 7\.2, and B, 7\.2\+hz-1000, are the same build") as caught:
        check_differ(both, [kernel("a"), kernel("a")])
    assert caught.value.exit_code == 2


def test_one_name_on_both_sides_is_refused_before_a_build(mine):
    check_unequal(*sides(["7.2", str(mine)], Path()))
    for given in (["7.2", "7.2"], [str(mine), str(mine)]):
        with pytest.raises(InputError, match="there is nothing to compare"):
            check_unequal(*sides(given, Path(), "7.2" if given[0] != "7.2" else ""))


def test_options_differ_by_value_and_not_by_the_builds_tools():
    a = 'CONFIG_HZ=100\nCONFIG_A=y\n# CONFIG_B is not set\nCONFIG_CC_VERSION_TEXT="gcc 12"\n'
    b = 'CONFIG_HZ=250\nCONFIG_A=y\nCONFIG_B=m\nCONFIG_CC_VERSION_TEXT="gcc 13"\n'
    said = [(item.name, item.a, item.b) for item in options(a, b)]
    assert said == [("CONFIG_B", "not set", "m"), ("CONFIG_HZ", "100", "250")]


def kernels_with(tmp_path, *patches: tuple[str, ...]):
    found = []
    for number, names in enumerate(patches):
        (tmp_path / f"linux{number}").write_bytes(b"um_seed" if number else b"none")
        found.append(kernel(str(tmp_path / f"linux{number}"), *names))
    return tuple(found)


def test_the_labs_patches_and_features_are_compared_by_name(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    a, b = kernels_with(tmp_path, ("0002-clock.patch",), ("given-0001-mine.patch", "0002-stacks.patch"))
    found = differs(sides(["7.2", "6.12"], Path()), (a, b))
    assert (found.only_a, found.only_b) == (("clock.patch",), ("stacks.patch",))
    assert [(item.name, item.a, item.b) for item in found.features] == [("seed", "no", "yes")]
    assert found.source == ("A: Linux 7.2.11, Debian", "B: Linux 7.2.11, Debian")


def test_the_patch_of_a_variant_has_its_name(tmp_path):
    kernels = kernels_with(tmp_path, ("0001-clock.patch",), ("0001-clock.patch", "7.2.patch"))
    assert differs(sides(["7.2", "7.2+flush-at-limit"], Path()), kernels).only_b == ("flush-at-limit.patch",)


def test_the_source_is_told_by_patches_or_commits(repository, mine, tmp_path):
    kernels = kernels_with(tmp_path, (), ())
    found = differs(sides(["7.2", str(mine)], Path()), kernels)
    assert found.source == ("1 (file +1 -1)", "2 (file +1 -1)")
    last = steps(*sides(["7.2", str(mine)], Path()))[-2:]
    assert differs(last, kernels).source == ("2 (file +1 -1)",)
    repository.commit("change", file="2\n")
    (line, total) = differs(sides(["HEAD~1..HEAD"], repository.path), kernels).source
    assert line.endswith(" change")
    assert total == "in all: 1 file changed, 1 insertion(+), 1 deletion(-)"
    assert differs(sides(["HEAD", "HEAD~1"], repository.path), kernels).source[0] == "1 commit of A is not in B"


def test_kernels_of_one_label_are_told_apart_by_their_builds(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "linux").write_bytes(b"\x7fELF")
    both = sides([str(tmp_path / folder / "linux") for folder in ("one", "two")], Path())
    kernels = [
        replace(item, build_id=letter * 64) for item, letter in zip(kernels_with(tmp_path, (), ()), "ab", strict=True)
    ]
    found = asked(both, kernels, ["wblab", "study", "--kernels", "a b"])
    assert [state.label for state in found.states] == ["linux (aaaaaaaa)", "linux (bbbbbbbb)"]
    assert found.command == "wblab study --kernels 'a b'"
    assert not found.same_program(found.steps[0])
