"""The kernel that a user's name for it means."""

import shlex

import pytest

from wblab.core.errors import InputError
from wblab.kernels.wanted import build_kernel, built_kernel, built_kernels, full_name


def test_a_path_becomes_absolute(tree, monkeypatch):
    monkeypatch.chdir(tree.parent)
    monkeypatch.setenv("HOME", str(tree.parent))
    for name in ("linux", "./linux", "linux/../linux", "~/linux", str(tree)):
        assert full_name(name) == str(tree)


def test_a_series_or_a_missing_path_is_unchanged(tree, monkeypatch):
    monkeypatch.chdir(tree.parent)
    (tree.parent / "7.3").mkdir()
    for name in ("7.3", "6.12", "", "nothing", "no/thing"):
        assert full_name(name) == name


def test_the_number_of_processors_has_one_spelling(tree, monkeypatch):
    monkeypatch.chdir(tree.parent)
    assert full_name("7.3+smp@1") == "7.3+smp"
    assert full_name("7.3+smp+A=y@4") == full_name("7.3+smp@4+A=y") == "7.3+smp@4+A=y"
    assert full_name("linux@2") == f"{tree}@2"


def test_processors_are_no_part_of_a_build():
    with pytest.raises(InputError, match=r"is not built yet: build it with 'wblab kernel build 7\.3\+smp' "):
        built_kernel("7.3+smp@4")
    with pytest.raises(InputError, match=r"a number of processors is for runs: build 7\.3\+smp and run 7\.3\+smp@4"):
        build_kernel("7.3+smp@4")


def test_the_command_that_builds_a_tree_can_be_copied(tree):
    moved = tree.rename(tree.parent / "my linux")
    with pytest.raises(InputError) as raised:
        built_kernel(str(moved), given=[str(moved)])
    assert f"build it with '{shlex.join(['wblab', 'kernel', 'build', str(moved)])}'" in str(raised.value)


def test_a_kernel_not_built_is_named_with_the_next_step():
    said = r"kernel 6\.1 is not built yet: build it with 'wblab kernel build 6\.1' .* packed one with 'wblab kernel add"
    with pytest.raises(InputError, match=said):
        built_kernels()("6.1")
