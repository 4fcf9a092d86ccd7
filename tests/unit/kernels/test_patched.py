"""Kernels with patches of a user: what one build made, the next one need not, with a fake `make`."""

from pathlib import Path

import pytest

from wblab.core.errors import WblabError
from wblab.kernels.kept import kept
from wblab.kernels.kernel import Kernel
from wblab.kernels.mailbox import read_patches
from wblab.kernels.patched import base
from wblab.lab.progress import silent

pytestmark = pytest.mark.usefixtures("tools")

PATCH = """\
From: A <a@example.org>
Subject: [PATCH] another value
---
--- a/hello.c
+++ b/hello.c
@@ -1,3 +1,3 @@
 int main(void)
 {{ return 0; }}
-/* end */
+/* {value} */
"""


@pytest.fixture
def built(tmp_path: Path):
    """Return a function that builds 7.3, or a tree, with a patch of one line."""

    def build(value: int, source: str = "7.3") -> Kernel:
        (tmp_path / "mine.patch").write_text(PATCH.format(value=value))
        return base(source, silent).build(read_patches(tmp_path / "mine.patch"), silent, print)

    return build


def how(kernel: Kernel) -> str:
    return (kernel.path.parent / "build.log").read_text().partition("\n")[0]


@pytest.mark.parametrize("source", ["7.3", "tree"])
def test_other_patches_of_a_source_are_built_from_its_objects(built, cache_home, tree, source) -> None:
    source = str(tree) if source == "tree" else source
    first, second = built(1, source), built(2, source)
    assert how(first) == "# built whole: no objects are kept"
    assert how(second) == "# the objects of the last build are used"
    assert "/* 2 */" in second.path.read_text()
    assert built(1, source) == first
    (place,) = (one.path for one in kept())
    assert place.parent == cache_home / "objects"
    assert {path.name for path in place.iterdir()} == {"kept"}


def test_another_compiler_has_objects_of_its_own(built, tools) -> None:
    built(1)
    (tools / "gcc").write_text("#!/bin/sh\necho gcc 2.0\n")
    assert how(built(1)) == "# built whole: no objects are kept"


def test_a_build_that_fails_leaves_the_objects_of_the_last_one(built, tools) -> None:
    built(1)
    (tools / "broken").touch()
    with pytest.raises(WblabError, match="make failed"):
        built(2)
    (tools / "broken").unlink()
    assert how(built(2)) == "# the objects of the last build are used"
