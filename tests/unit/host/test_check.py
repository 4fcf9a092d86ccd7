import resource
from dataclasses import replace
from typing import get_args

import pytest

from wblab.core.drivers import Scheduler
from wblab.core.errors import InputError
from wblab.core.spec import Clock, DiskModel, Filesystem, GuestKernel
from wblab.host import check
from wblab.host.check import Host, check_kernel, check_run, lacking
from wblab.kernels import Kernel, catalog
from wblab.lab.places import LINUX_UML, PRESETS
from wblab.lab.results import SPECS
from wblab.lab.specfile import read_spec

BASE = read_spec(PRESETS / "base.toml")
TIME_TRAVEL = "CONFIG_UML_TIME_TRAVEL_SUPPORT=y"


def host(*without, **differing):
    """Return a machine with all tools but these, independent of this one."""
    return Host(lambda name: None if name in without else f"/usr/sbin/{name}", **differing)


@pytest.mark.parametrize("name", SPECS.names())
def test_a_preset_can_run_here(name):
    check_run(read_spec(PRESETS / f"{name}.toml"), host())


def test_options_and_parameters_of_the_kernel_are_checked():
    with pytest.raises(InputError, match=r"kernel\.config\.CONFIG_X: write X, without CONFIG_"):
        check_run(replace(BASE, kernel=GuestKernel(config={"CONFIG_X": "y"})))
    with pytest.raises(InputError, match=r"kernel\.parameters\.mem: the lab sets this parameter"):
        check_run(replace(BASE, kernel=GuestKernel(parameters={"mem": "9G"})))
    check_run(replace(BASE, kernel=GuestKernel(config={"X": "y"}, parameters={"um_cycles": 0})), host())


@pytest.fixture
def kernel(tmp_path):
    """A kernel with virtual time, ext4, one scheduler and one parameter."""
    config = ("CONFIG_EXT4_FS=y", "CONFIG_EXT4_USE_FOR_EXT2=y", "# CONFIG_XFS_FS is not set", TIME_TRAVEL)
    (tmp_path / "config").write_text("\n".join([*config, "CONFIG_MQ_IOSCHED_DEADLINE=y", ""]))
    (tmp_path / "linux").write_bytes(b"\0um_cycles\0")
    patches = ("0001-x.patch",)
    return Kernel(tmp_path / "linux", tmp_path / "config", "7.3", "7.3.1", "", patches, "f00", "source", "gcc")


@pytest.mark.parametrize("filesystem", ["ext2", "ext3", "ext4", "none"])
def test_a_kernel_has_the_filesystems_of_its_configuration(kernel, filesystem):
    spec = replace(BASE, disk={"disk": replace(BASE.disk["disk"], filesystem=filesystem)})
    check_kernel(spec, kernel)


@pytest.mark.parametrize("filesystem", ["xfs", "btrfs", "f2fs", "vfat", "exfat"])
def test_a_filesystem_that_the_kernel_lacks_is_named_with_the_command(kernel, filesystem):
    disks = {"fast": BASE.disk["disk"], "slow": replace(BASE.disk["disk"], filesystem=filesystem)}
    spec = replace(BASE, disk=disks, kernel=GuestKernel(name="7.3+lean"))
    with pytest.raises(InputError) as raised:
        check_kernel(spec, kernel)
    assert str(raised.value) == (
        f"the kernel 7.3+lean cannot run this: disk.slow.filesystem={filesystem} needs CONFIG_{filesystem.upper()}_FS: "
        "take another kernel, such as --kernel 7.3; 'wblab kernel build 7.3' builds it"
    )
    check_kernel(spec, replace(kernel, config=None))  # nothing says what such a kernel has


def test_a_kernel_without_virtual_time_runs_by_the_host_s_clock(kernel):
    kernel.config.write_text(kernel.config.read_text().replace(TIME_TRAVEL, ""))
    check_kernel(replace(BASE, clock=Clock(mode="real")), kernel)
    with pytest.raises(InputError) as raised:
        check_kernel(BASE.on("7.3+smp@4"), kernel)
    assert str(raised.value) == "the kernel 7.3+smp@4 has no virtual time: run it with --set clock.mode=real"


def test_a_parameter_that_the_kernel_has_not_is_refused(kernel):
    check_kernel(replace(BASE, kernel=GuestKernel(parameters={"um_cycles": 0})), kernel)
    with pytest.raises(InputError, match=r"kernel\.parameters\.um_cycle: the kernel 7\.3\.1 has no such parameter"):
        check_kernel(replace(BASE, kernel=GuestKernel(parameters={"um_cycle": 0})), kernel)


def test_impossible_specs_are_refused():
    with pytest.raises(InputError, match="memory"):
        check_run(replace(BASE, memory=1))


@pytest.mark.parametrize(
    ("filesystem", "missing", "package"),
    [
        ("ext4", "mke2fs", "e2fsprogs"),
        ("xfs", "mkfs.xfs", "xfsprogs"),
        ("exfat", "mkfs.exfat", "exfatprogs"),
        ("ext4", "trace-cmd", "trace-cmd"),
    ],
)
def test_a_missing_tool_is_named_with_its_package(filesystem, missing, package):
    spec = replace(BASE, disk={"disk": replace(BASE.disk["disk"], filesystem=filesystem, size=300 << 20)})
    with pytest.raises(InputError, match=f"missing on this machine: {missing}: run '.* {package}'"):
        check_run(spec, host(missing))


def test_an_experiment_without_events_needs_no_tracecmd():
    check_run(replace(BASE, trace=replace(BASE.trace, events=())), host("trace-cmd"))


def test_missing_shared_memory_is_refused(monkeypatch, tmp_path):
    monkeypatch.setenv("WBLAB_SHM", str(tmp_path / "missing"))
    with pytest.raises(InputError, match="missing: No such file or directory: set WBLAB_SHM to a tmpfs"):
        check_run(BASE, host())


def test_memory_that_a_guest_cannot_use_is_refused(monkeypatch, kernel):
    with pytest.raises(InputError, match=r"addresses are random: .* 'setarch --addr-no-randomize podman run"):
        check_kernel(BASE, kernel, host(addresses_are_fixed=lambda: False))
    monkeypatch.setenv("WBLAB_SHM", "/proc")
    with pytest.raises(InputError, match="/proc is mounted noexec: remount it"):
        check_kernel(BASE, kernel, host(shared_is_executable=lambda: False))


def test_a_host_that_refuses_programs_in_memory_is_told_from_a_kernel_that_needs_none(kernel):
    refusing = host(memory_is_executable=lambda: False)
    check_kernel(BASE, kernel, refusing)  # its executable has no such program
    needs = replace(kernel, path=kernel.path.with_name("needs"))
    needs.path.write_bytes(kernel.path.read_bytes() + b"uml-userspace\0")
    with pytest.raises(InputError, match=r"refused .*, which the kernel .* needs: as root: sysctl vm\.memfd_noexec=1"):
        check_kernel(BASE, needs, refusing)


def test_a_guest_too_large_for_shared_memory_is_refused():
    with pytest.raises(InputError, match=r"/dev/shm has 1 MiB free, the guest needs 330 MiB: .* lower memory"):
        check_run(BASE, host(shared_bytes=lambda: 1 << 20))


def test_a_run_too_large_for_memory_is_refused():
    with pytest.raises(InputError, match=r"1 MiB of memory available, .* 460 MiB: lower memory or disk\.size"):
        check_run(BASE, host(memory_bytes=lambda: 1 << 20))


def test_a_sparse_disk_larger_than_memory_is_accepted():
    small = host(memory_bytes=lambda: 1 << 30)
    large = replace(BASE.disk["disk"], size=64 << 30)
    with pytest.raises(InputError, match=r"or limit what a disk takes by disk\.resident"):
        check_run(replace(BASE, disk={"disk": large}), small)
    check_run(replace(BASE, disk={"disk": replace(large, resident=256 << 20)}), small)


ONE = 1 << 20


def shell_limits(size_bytes, files=resource.RLIM_INFINITY, descriptors=resource.RLIM_INFINITY):
    """Check a run in a shell with these limits."""
    found = {resource.RLIMIT_FSIZE: files, resource.RLIMIT_NOFILE: descriptors}
    check.check(size_bytes, lambda number: (found[number], resource.RLIM_INFINITY))


def test_what_suffices_is_not_mentioned():
    shell_limits(ONE)
    shell_limits(ONE, files=ONE, descriptors=128)


def test_a_file_that_may_not_be_so_large_is_refused_with_the_command():
    with pytest.raises(InputError, match=r"at most 1023 KiB .*\(ulimit -f\), the run needs 1 MiB: ulimit -f unlimited"):
        shell_limits(ONE, files=ONE - 1024)


def test_too_few_open_files_are_refused_with_the_command():
    with pytest.raises(InputError, match=r"only 64 files open .*\(ulimit -n\), the run needs 128: ulimit -n 1024"):
        shell_limits(ONE, descriptors=64)


MIRROR = read_spec(PRESETS / "mirror.toml")


@pytest.fixture
def lab_kernel(tmp_path):
    """A kernel that has all of the lab's options, except those named."""

    def without(*options, variant=""):
        found = catalog.load().fragments() + ((LINUX_UML / "variants" / variant / "7.2.config",) if variant else ())
        text = "".join(path.read_text() for path in found)
        lines = [line.partition("#")[0].strip() for line in text.splitlines()]
        config, linux = tmp_path / "config", tmp_path / "linux"
        linux.write_text("tt_syscall_ns um_seed ubd.depth")
        config.write_text("".join(f"{line}\n" for line in lines if line.partition("=")[0] not in options))
        return Kernel(linux, config, "7.2", "7.2.1", "", ("a.patch",), "f00", "source", "gcc")

    return without


@pytest.mark.parametrize("name", SPECS.names())
def test_the_lab_s_options_are_enough_for_all_presets(name, lab_kernel):
    spec = read_spec(PRESETS / f"{name}.toml")
    assert lacking(spec, lab_kernel(variant=spec.kernel.name.partition("+")[2])) == {}


def test_each_model_filesystem_and_scheduler_is_known_or_needs_nothing():
    by_filesystem = {"served"}  # which needs what its filesystem does
    assert set(get_args(DiskModel)) - check._MODELS.keys() == {"throttle", "device"} | by_filesystem
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
def test_a_missing_option_is_named_with_the_key_that_needs_it(lab_kernel, option, changes, where):
    spec = replace(BASE, disk={"disk": replace(BASE.disk["disk"], **changes)})
    assert lacking(spec, lab_kernel(option)) == {where: option}


def test_ext2_needs_one_of_two_options(lab_kernel):
    spec = replace(BASE, disk={"disk": replace(BASE.disk["disk"], filesystem="ext2")})
    without = lab_kernel("CONFIG_EXT4_USE_FOR_EXT2")
    assert lacking(spec, without) == {"disk.filesystem=ext2": "CONFIG_EXT4_USE_FOR_EXT2 or CONFIG_EXT2_FS"}
    with without.config.open("a") as file:
        file.write("CONFIG_EXT2_FS=y\n")
    assert lacking(spec, without) == {}


def test_a_kernel_without_md_cannot_run_a_mirror(lab_kernel):
    with pytest.raises(InputError, match=r"7\.2\.1 cannot run this: disk\.mirror\.model=raid1 needs CONFIG_MD_RAID1:"):
        check_kernel(MIRROR, lab_kernel("CONFIG_MD_RAID1"))


def test_a_kernel_with_unknown_options_may_try(lab_kernel):
    assert lacking(MIRROR, replace(lab_kernel(), config=None)) == {}
