"""A spec's dirty limits on a machine: each change is noted before it is made, and leads back."""

import pytest

from wblab.core.errors import WblabError
from wblab.live.runs.ofspec import set_limits


class Kept:
    """Keeps changes, and notes what the files had at that time."""

    def __init__(self, vm):
        self.vm, self.changes, self.seen = vm, [], []

    def note(self, *changes):
        self.changes += changes
        self.seen.append({path.name: path.read_text() for path in self.vm.iterdir()})


@pytest.fixture
def vm(tmp_path):
    for name, text in {"dirty_bytes": "0", "dirty_ratio": "20", "dirty_expire_centisecs": "3000"}.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def test_a_share_comes_back_as_a_share(vm):
    kept = Kept(vm)
    set_limits({"vm.dirty_bytes": 4096000, "vm.dirty_expire_centisecs": 100}, kept, vm)
    assert [path.read_text() for path in (vm / "dirty_bytes", vm / "dirty_expire_centisecs")] == ["4096000", "100"]
    assert kept.seen[0]["dirty_bytes"] == "0"
    first, second = kept.changes
    assert (first.path, first.new, first.back_path, first.back) == (
        *(str(vm / "dirty_bytes"), "4096000", str(vm / "dirty_ratio"), "20"),
    )
    for change in (second, first):
        change.undo()
    assert (vm / "dirty_ratio").read_text() == "20"
    assert (vm / "dirty_expire_centisecs").read_text() == "3000"


def test_what_is_so_already_is_left_alone(vm):
    (vm / "dirty_bytes").write_text("4096000\n")
    kept = Kept(vm)
    set_limits({"vm.dirty_bytes": 4096000}, kept, vm)
    assert kept.changes == []


def test_a_limit_that_cannot_be_set_is_named(vm):
    with pytest.raises(WblabError, match=r"cannot set vm\.dirty_background_bytes=1 on this machine: No such file"):
        set_limits({"vm.dirty_background_bytes": 1}, Kept(vm), vm)
