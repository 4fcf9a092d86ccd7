"""Kernels with patches of a user: what one build made, the next one need not, with a fake `make`."""

import json
from pathlib import Path

import pytest

from wblab.kernels import make
from wblab.kernels.kept import kept
from wblab.kernels.kernel import Kernel
from wblab.kernels.mailbox import read_patches
from wblab.kernels.patched import base
from wblab.lab.progress import silent

pytestmark = pytest.mark.usefixtures("tools")

PATCH = """\
From: A <a@example.org>
Subject: [PATCH] another file
---
--- /dev/null
+++ b/other.c
@@ -0,0 +1 @@
+int other = {value};
"""


@pytest.fixture
def built(tmp_path: Path):
    """Return a function that builds 7.3 with a patch of one line."""

    def build(value: int) -> Kernel:
        (tmp_path / "mine.patch").write_text(PATCH.format(value=value))
        return base("7.3", silent).build(read_patches(tmp_path / "mine.patch"), silent, print)

    return build


def known_times(cache_home: Path) -> dict[str, tuple[str, int]]:
    (record,) = cache_home.glob("bisect/*/objects/times.json")
    return json.loads(record.read_text())


def test_other_patches_of_a_series_are_built_from_its_objects(built, cache_home):
    first = built(1)
    before = known_times(cache_home)
    second = built(2)
    after = known_times(cache_home)
    assert first.build_id != second.build_id
    assert before["hello.c"] == after["hello.c"]  # old to make, though the source was copied anew
    assert before["other.c"][1] < after["other.c"][1]
    assert not list(cache_home.glob("bisect/*/objects/tree"))
    assert built(1) == first
    assert known_times(cache_home) == after  # nothing was built


def test_another_compiler_has_objects_of_its_own(built, cache_home, tools):
    built(1)
    (tools / "gcc").write_text("#!/bin/sh\necho gcc 2.0\n")
    assert "gcc 2.0" in make.compiler()
    built(1)
    assert len(list(cache_home.glob("bisect/*/objects/times.json"))) == 2


def test_a_build_that_fails_leaves_objects_for_the_next(built, cache_home, tools):
    (tools / "broken").touch()
    with pytest.raises(Exception, match="make failed"):
        built(1)
    (tools / "broken").unlink()
    assert known_times(cache_home)
    assert "return 1" in built(1).path.read_text()


def test_what_is_kept_is_listed_for_removal(built, cache_home):
    built(1)
    assert [one.path.parent for one in kept()] == [cache_home / "bisect"]
