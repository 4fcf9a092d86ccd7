"""Options of the kernel that a spec's disks need, found before anything boots."""

from dataclasses import replace
from typing import get_args

import pytest

from wblab.core.errors import InputError
from wblab.core.spec import DiskModel, Filesystem, Scheduler
from wblab.host import check
from wblab.host.check import check_kernel, lacking
from wblab.kernels import Kernel, catalog
from wblab.lab.places import PRESETS
from wblab.lab.results import SPECS
from wblab.lab.specfile import read_spec

BASE, MIRROR = (read_spec(PRESETS / f"{name}.toml") for name in ("base", "mirror"))


@pytest.fixture
def kernel(tmp_path):
    """A kernel that has all of the lab's options, except those named."""

    def without(*options):
        text = "".join(path.read_text() for path in catalog.load().fragments())
        lines = [line.partition("#")[0].strip() for line in text.splitlines()]
        config, linux = tmp_path / "config", tmp_path / "linux"
        linux.write_text("tt_syscall_ns um_seed ubd.depth")
        config.write_text("".join(f"{line}\n" for line in lines if line.partition("=")[0] not in options))
        return Kernel(linux, config, "7.2", "7.2.1", "", ("a.patch",), "f00", "source", "gcc")

    return without


@pytest.mark.parametrize("name", SPECS.names())
def test_the_lab_s_options_are_enough_for_all_presets(name, kernel):
    assert lacking(read_spec(PRESETS / f"{name}.toml"), kernel()) == {}


def test_each_model_filesystem_and_scheduler_is_known_or_needs_nothing():
    assert set(get_args(DiskModel)) - check._MODELS.keys() == {"throttle", "device"}
    assert set(get_args(Filesystem)) - check._FILESYSTEMS.keys() == {"none"}
    assert set(get_args(Scheduler)) - check._SCHEDULERS.keys() == {"none"}


@pytest.mark.parametrize(
    ("option", "changes", "where"),
    [
        ("CONFIG_EXT4_FS", {}, "disk.filesystem=ext4"),
        ("CONFIG_XFS_FS", {"filesystem": "xfs"}, "disk.filesystem=xfs"),
        ("CONFIG_IOSCHED_BFQ", {"scheduler": "bfq"}, "disk.scheduler=bfq"),
    ],
)
def test_a_missing_option_is_named_with_the_key_that_needs_it(kernel, option, changes, where):
    spec = replace(BASE, disk={"disk": replace(BASE.disk["disk"], **changes)})
    assert lacking(spec, kernel(option)) == {where: option}


def test_ext2_needs_one_of_two_options(kernel):
    spec = replace(BASE, disk={"disk": replace(BASE.disk["disk"], filesystem="ext2")})
    without = kernel("CONFIG_EXT4_USE_FOR_EXT2")
    assert lacking(spec, without) == {"disk.filesystem=ext2": "CONFIG_EXT4_USE_FOR_EXT2 or CONFIG_EXT2_FS"}
    with without.config.open("a") as file:
        file.write("CONFIG_EXT2_FS=y\n")
    assert lacking(spec, without) == {}


def test_a_kernel_without_md_cannot_run_a_mirror(kernel):
    with pytest.raises(InputError, match=r"7\.2\.1 cannot run this: disk\.mirror\.model=raid1 needs CONFIG_MD_RAID1:"):
        check_kernel(MIRROR, kernel("CONFIG_MD_RAID1"))


def test_a_kernel_with_unknown_options_may_try(kernel):
    assert lacking(MIRROR, replace(kernel(), config=None)) == {}
