"""The patches chosen for the sources of the series are those of their series files."""

import pytest

from wblab.kernels import catalog, choice, places
from wblab.kernels.identity import choose_for, recipe, recipe_of_tree


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
