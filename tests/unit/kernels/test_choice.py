"""Patches chosen by what applies to a tree, with the smallest trees that show each rule."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from wblab.kernels import catalog, choice, places
from wblab.kernels.choice import Choice, PatchError, choose
from wblab.kernels.identity import choose_for, recipe, recipe_of_tree
from wblab.kernels.patches import Forms, numbered

LINES = [f"line {number}" for number in range(1, 31)]
Wants = Callable[..., Forms]


def change(number: int, lines: list[str] = LINES, file: str = "a.c") -> str:
    """Return a patch that changes line `number` of a file, with three lines of context on both sides."""
    at = number - 1
    before, after = lines[at - 3 : at], lines[at + 1 : at + 4]
    body = [*(f" {line}" for line in before), f"-{lines[at]}", f"+{lines[at]}!", *(f" {line}" for line in after)]
    return "\n".join([f"--- a/{file}", f"+++ b/{file}", f"@@ -{at - 2},7 +{at - 2},7 @@", *body, ""])


def tree(lines: list[str]) -> choice.ReadFile:
    return {"a.c": ("\n".join(lines) + "\n").encode()}.get


@pytest.fixture
def wants(tmp_path: Path) -> Wants:
    def make(name: str, *texts: str, needed: bool = True) -> Forms:
        paths = [tmp_path / (f"{name}@{place}.patch" if place else f"{name}.patch") for place in range(len(texts))]
        for path, text in zip(paths, texts, strict=True):
            path.write_text(text)
        return Forms(name, tuple(paths), needed)

    return make


def names(chosen: Choice) -> list[tuple[str, str]]:
    return [(patch.name, patch.path.name) for patch in chosen.patches]


def test_the_first_form_that_applies_is_taken_also_at_other_lines(wants: Wants) -> None:
    other = [line.upper() for line in LINES]
    wanted = [wants("sun", change(10, other), change(10)), wants("moon", change(20), change(20, other))]
    chosen = choose(tree(["new", *LINES]), "here", None, wanted)
    assert names(chosen) == [("0001-sun.patch", "sun@1.patch"), ("0002-moon.patch", "moon.patch")]
    assert (chosen.left_out, chosen.fuzzy, chosen.listed) == ((), (), False)
    assert chosen.describe() == "2 patches chosen by what applies"


def test_a_patch_may_need_another_before_it(wants: Wants) -> None:
    first, second = change(10), change(10, [*LINES[:9], "line 10!", *LINES[10:]])
    wanted = [wants("sun", first), wants("moon", second)]
    assert len(choose(tree(LINES), "here", None, wanted).patches) == 2
    with pytest.raises(PatchError, match=r"moon\.patch does not apply to here"):
        choose(tree(LINES), "here", None, wanted[::-1])


def test_a_needed_patch_without_a_form_that_applies_is_named(wants: Wants) -> None:
    other = [line.upper() for line in LINES]
    with pytest.raises(PatchError, match=r"sun\.patch does not apply to v6\.6: hunk 1 of a\.c .line 7.; refresh /"):
        choose(tree(LINES), "v6.6", None, [wants("sun", change(10, other), change(11, other))])


def test_another_patch_is_left_out_and_the_rest_numbered_without_it(wants: Wants) -> None:
    optional = wants("sun", change(10, file="b.c"), needed=False)
    chosen = choose(tree(LINES), "here", None, [optional, wants("moon", change(20))])
    assert names(chosen) == [("0001-moon.patch", "moon.patch")]
    assert chosen.left_out == (("sun", "there is no b.c"),)
    assert chosen.describe() == "1 patch chosen by what applies; without sun (there is no b.c)"


def test_fuzz_is_the_last_resort_and_only_for_what_is_needed(wants: Wants) -> None:
    edited = [*LINES[:6], "edited", *LINES[7:]]  # the first line of the context of line 10
    exact, fuzzy = change(10, edited), change(10)
    chosen = choose(tree(edited), "here", None, [wants("sun", fuzzy, exact)])
    assert (names(chosen), chosen.fuzzy) == ([("0001-sun.patch", "sun@1.patch")], ())
    chosen = choose(tree(edited), "here", None, [wants("sun", fuzzy)])
    assert chosen.fuzzy == ("sun.patch",)
    assert chosen.describe() == "1 patch chosen by what applies; with fuzz: sun.patch"
    assert choose(tree(edited), "here", None, [wants("sun", fuzzy, needed=False)]).left_out


def test_a_patch_that_the_tree_has_already_is_not_applied_twice(wants: Wants) -> None:
    added = "--- a/a.c\n+++ b/a.c\n@@ -1,2 +1,3 @@\n line 1\n+new\n line 2\n"
    having = [LINES[0], "new", *LINES[1:]]
    chosen = choose(tree(having), "here", None, [wants("sun", added), wants("moon", change(20))])
    assert [name for name, _ in names(chosen)] == ["0001-sun.patch", "0002-moon.patch"]


def test_a_tree_to_which_the_list_of_its_own_series_applies_gets_exactly_that(wants: Wants) -> None:
    sun, moon = wants("sun", change(10)), wants("moon", change(20))
    own = numbered([*moon.paths, *sun.paths])
    chosen = choose(tree(LINES), "here", own, [sun, moon])
    assert [patch.name for patch in chosen.patches] == ["0001-moon.patch", "0002-sun.patch"]
    assert chosen.listed
    edited = [*LINES[:19], "line twenty", *LINES[20:]]
    later = wants("moon", change(20), change(20, edited))
    chosen = choose(tree(edited), "here", own, [sun, later])
    assert (names(chosen)[1], chosen.listed) == (("0002-moon.patch", "moon@1.patch"), False)


def test_an_empty_list_needs_no_patch() -> None:
    assert choose(tree(LINES), "here", (), []) == Choice((), listed=True)


def test_files_of_a_folder_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("a")
    read = choice.from_folder(tmp_path)
    assert (read("a.c"), read("b.c")) == (b"a", None)


def test_a_form_is_not_taken_without_what_it_needs_to_compile(wants: Wants) -> None:
    """A patch of which one form applies by itself, and the other only with another patch, though its text fits."""
    clock = wants("clock", change(10), needed=False)
    free = wants("free", change(20), change(25))
    free = replace(free, requires={free.paths[0]: "clock"})
    assert names(choose(tree(LINES), "here", None, [clock, free]))[1] == ("0002-free.patch", "free.patch")
    without = [line for line in LINES if line != "line 10"]
    assert names(choose(tree(without), "here", None, [clock, free])) == [("0001-free.patch", "free@1.patch")]
    only = replace(free, paths=free.paths[:1])
    with pytest.raises(PatchError, match=r"free\.patch does not apply to here: it needs clock"):
        choose(tree(without), "here", None, [clock, only])


def test_the_tree_of_a_series_gets_exactly_its_own_patches():
    known = catalog.load()
    trees = {entry.name: places.source_of(known.pins[entry.name], entry).tree for entry in known.series}
    here = {name: tree for name, tree in trees.items() if tree.exists()}
    if not here:
        pytest.skip("no source of a series is unpacked")
    for name, tree in here.items():
        chosen = choose_for(choice.from_folder(tree), name, name, known)
        assert recipe_of_tree(chosen, name, {}, known) == recipe(name, known)
    print(f"checked: {', '.join(here)}")
