"""Targets are made, interrupted and read back."""

import json
from dataclasses import dataclass, field

import pytest

from wblab.claims.atlas.made import is_current, make, read, read_all
from wblab.claims.atlas.target import AtlasRow, Target
from wblab.core.errors import InputError, WblabError
from wblab.lab.formats import TARGET_ROWS

XFS = Target("7.2", "xfs", "li")
ROW = AtlasRow("linear", "", "a claim", "reproduced", "it held", "report.html#linear")


class Kernel:
    def describe(self):
        return {"release": "7.2.11"}


@dataclass
class Scripted:
    """A plan that makes one file per call, and fails if told so."""

    made_of: str = "this"
    target: Target = XFS
    kernel: Kernel = field(default_factory=Kernel)
    fails: bool = False

    def fill(self, directory, at_once):
        (directory / f"file-{len(list(directory.glob('file-*')))}").touch()
        if self.fails:
            raise WblabError("interrupted")
        return [ROW]

    def prune(self, directory):
        (directory / "file-0").unlink(missing_ok=True)


def files(directory):
    return sorted(path.name for path in directory.glob("file-*"))


def test_a_target_is_read_back(tmp_path):
    made = make(Scripted(), tmp_path, 1)
    assert (made.target, made.release, made.rows) == (XFS, "7.2.11", [ROW])
    assert read(XFS, tmp_path) == made
    assert [path.name for path in tmp_path.iterdir()] == ["7.2_xfs_li"]


def test_all_targets_are_read_in_order(tmp_path):
    targets = [Target(*parts) for parts in (("6.1", "xfs", "li"), ("7.2", "ext4", "trial"), ("7.2", "xfs", "thesis"))]
    for target in targets:
        make(Scripted(target=target), tmp_path, 1)
    (tmp_path / "_7.2_ext2_li").mkdir()  # an interrupted target
    (tmp_path / "notes").mkdir()
    assert [made.target for made in read_all(tmp_path, ["7.2", "6.1"])] == [targets[1], targets[2], targets[0]]
    assert read_all(tmp_path / "nowhere", ["7.2"]) == []


def test_a_target_is_current_while_its_inputs_are_unchanged(tmp_path):
    assert not is_current(Scripted(), tmp_path)
    make(Scripted(), tmp_path, 1)
    assert is_current(Scripted(), tmp_path)
    assert not is_current(Scripted("that"), tmp_path)
    assert not is_current(Scripted(target=Target("7.2", "ext4", "li")), tmp_path)
    (tmp_path / XFS.name / TARGET_ROWS).unlink()
    assert not is_current(Scripted(), tmp_path)


def test_a_plan_resumes_its_own_files_and_no_other_plan_s(tmp_path):
    with pytest.raises(WblabError, match="interrupted"):
        make(Scripted(fails=True), tmp_path, 1)
    assert not is_current(Scripted(), tmp_path)
    make(Scripted(), tmp_path, 1)
    assert files(tmp_path / XFS.name) == ["file-1"]

    with pytest.raises(WblabError, match="interrupted"):
        make(Scripted("that", fails=True), tmp_path, 1)
    assert is_current(Scripted(), tmp_path)  # the existing target is kept until a new one is complete
    make(Scripted("yet another"), tmp_path, 1)
    assert files(tmp_path / XFS.name) == []
    assert not is_current(Scripted(), tmp_path)


def test_an_interrupted_finished_target_is_not_repeated(tmp_path):
    class Interrupted(Scripted):
        def prune(self, directory):
            raise WblabError("interrupted")

    with pytest.raises(WblabError, match="interrupted"):
        make(Interrupted(), tmp_path, 1)
    make(Scripted(), tmp_path, 1)
    assert files(tmp_path / XFS.name) == []
    assert is_current(Scripted(), tmp_path)


@pytest.mark.parametrize("change", [{"rows": [{"name": "x"}]}, {"rows": 5}, {"rows": ["x"]}, {"release": None}])
def test_a_damaged_target_is_named_with_the_next_step(tmp_path, change):
    make(Scripted(), tmp_path, 1)
    path = tmp_path / XFS.name / TARGET_ROWS
    content = json.loads(path.read_text()) | change
    path.write_text(json.dumps({key: value for key, value in content.items() if value is not None}))
    with pytest.raises(InputError, match=r"target\.json is damaged .*: remove .*7\.2_xfs_li"):
        read(XFS, tmp_path)
