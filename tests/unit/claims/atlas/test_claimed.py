"""A target of claims: its runs on the filesystem, and when it is out of date."""

import pytest

from wblab.claims.atlas import content
from wblab.claims.atlas.claimed import planned
from wblab.claims.atlas.target import FILESYSTEMS, Target, on_filesystem
from wblab.claims.sources.cases import CASES, case_spec
from wblab.claims.sources.registry import WORKS
from wblab.core.check import check_spec
from wblab.core.errors import InputError
from wblab.host.request import Request


class Kernel:
    def __init__(self, build_id="b" * 40):
        self.build_id = build_id


def prepare(spec, resolve):
    """Check nothing of this machine and of a kernel."""
    check_spec(spec)
    return Request(spec, None)


def test_each_disk_with_a_filesystem_gets_the_target_s():
    spec = on_filesystem(case_spec("ext2", 1), "xfs")
    (disk,) = spec.disk.values()
    assert (disk.filesystem, disk.size, disk.mkfs_options) == ("xfs", 300 << 20, ())
    assert on_filesystem(case_spec("ext4", 1), "ext4") == case_spec("ext4", 1)


@pytest.mark.parametrize(("filesystem", "size"), [("ext4", 130 << 20), ("btrfs", 300 << 20), ("f2fs", 300 << 20)])
def test_disks_are_enlarged_for_a_filesystem_s_overhead(filesystem, size):
    assert on_filesystem(case_spec("ext2", 1), filesystem).disk["disk"].size == size


def test_raw_disks_and_common_mount_options_are_unchanged():
    bare = on_filesystem(case_spec("bare", 1), "xfs")
    assert {disk.filesystem for disk in bare.disk.values()} == {"none"}
    sync = on_filesystem(case_spec("sync", 1), "f2fs")
    assert sync.disk["disk"].mount_options == ("sync",)


def test_a_filesystem_other_than_the_default_is_kept():
    spec = on_filesystem(case_spec("ext2", 1), "xfs", "ext4")
    assert spec == case_spec("ext2", 1)
    assert on_filesystem(case_spec("ext4", 1), "xfs", "ext4").disk["disk"].filesystem == "xfs"


def test_components_of_a_disk_are_enlarged():
    spec = on_filesystem(case_spec("linear-ext4", 1), "xfs")
    assert spec.disk["line"].filesystem == "xfs"
    assert spec.disk["a"].size >= 300 << 20
    check_spec(spec)


def test_every_case_has_runs_or_a_reason():
    for filesystem in FILESYSTEMS:
        for work, found in WORKS.items():
            plan = planned(Target("7.2", filesystem, work), 2, lambda name: Kernel(), prepare)
            cases = {case for claim in found.claims for case in claim.cases}
            made = [cell.name for cell, _ in plan.plan.runs()] if plan.plan else []
            assert cases == set(made) | plan.impossible.keys()
            assert all(made.count(case) == 2 for case in set(made))
            for case, reason in plan.impossible.items():
                assert reason.startswith(
                    (f"the case {case} cannot be on {filesystem}: ", f"the case {case} needs a kernel of its own")
                )


def test_another_kernel_case_or_check_makes_another_target(monkeypatch):
    def made_of(build_id="b" * 40, **given):
        options = {"series": "7.2", "filesystem": "xfs", "source": "li"} | given
        return planned(Target(**options), 1, lambda name: Kernel(build_id), prepare).made_of

    first = made_of()
    assert made_of() == first
    assert made_of(filesystem="ext4") != first
    second = made_of("c" * 40)
    assert second != first
    monkeypatch.setattr(content, "code_of", lambda *rooms: "another")
    third = made_of()
    assert third not in (first, second)
    monkeypatch.setitem(CASES, "mirror", CASES["linear"])
    assert made_of() != third


def test_a_missing_kernel_is_reported():
    def resolve(name):
        raise InputError(f"the kernel {name} is not built")

    with pytest.raises(InputError, match=r"the kernel 7\.2 is not built"):
        planned(Target("7.2", "xfs", "li"), 1, resolve, prepare)
