from dataclasses import replace

import pytest

from wblab.core.errors import InputError
from wblab.core.spec import Disk
from wblab.core.units import Bytes, BytesPerSecond
from wblab.host.disks.options import check_options
from wblab.lab.places import PRESETS
from wblab.lab.specfile import read_spec

EXT4 = Disk(size=Bytes(8 << 20), write_bps=BytesPerSecond(1 << 20))
XFS = replace(EXT4, filesystem="xfs")


@pytest.mark.parametrize(
    "words",
    [
        *(
            (),
            ("-O", "^has_journal"),
            ("-O^has_journal,extent",),
            ("-b", "1024", "-m", "0"),
            ("-j",),
            ("-L", "my disk"),
        ),
        *(("-E", "stride=4,stripe_width=8"), ("-J", "size=4"), ("-I256",), ("-E", "nodiscard,resize=1G")),
    ],
)
def test_documented_mke2fs_options_are_allowed(words):
    check_options(replace(EXT4, mkfs_options=words))


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("/path/of/host", "-L"), "/path/of/host"),  # a real attack: this path was formatted
        (("-L", "x", "/etc/passwd"), "/etc/passwd"),
        (("-b", "1024", "2048"), "2048"),
        (("--", "/dev/sda"), "--"),
        (("-",), "-"),
        (("",), "''"),
        (("-d", "/root"), "-d"),
        (("-z", "/tmp/undo"), "-z"),
        (("-l", "/etc/passwd"), "-l"),
        (("-n",), "-n"),
        (("-J", "device=/dev/sda"), "device"),
        (("-Jsize=4,device=/dev/sda",), "device"),
        (("-E", "undo=/x"), "/x"),
        (("-E", "stride=4,blkid=1"), "blkid"),
        (("-L",), "needs a value"),
        (("-j4",), "takes no value"),
        (("-O", "a\nb"), "plain value"),
        (("-O", "x" * 200), "plain value"),
        (("-O", "\x1b[2J"), "plain value"),
    ],
)
def test_options_that_name_other_files_are_refused(words, named):
    with pytest.raises(InputError, match=r"^disk\.mkfs_options: ") as raised:
        check_options(replace(EXT4, mkfs_options=words))
    assert named in str(raised.value)
    assert str(raised.value).isprintable()


@pytest.mark.parametrize(
    "words", [("-l", "size=8m"), ("-d", "agcount=2"), ("-n", "ftype=1"), ("-m", "reflink=0,crc=1")]
)
def test_documented_mkfs_xfs_options_are_allowed(words):
    check_options(replace(XFS, mkfs_options=words))


@pytest.mark.parametrize(
    "words",
    [
        *(("-l", "logdev=/dev/sda"), ("-r", "rtdev=/dev/sda"), ("-d", "name=/dev/sda"), ("-d", "file,name=x")),
        *(("-p", "/etc/passwd"), ("-c", "options=/etc/passwd"), ("/dev/sda",), ("-O", "x")),
    ],
)
def test_xfs_options_that_name_other_files_are_refused(words):
    with pytest.raises(InputError, match=r"^disk\.mkfs_options: "):
        check_options(replace(XFS, mkfs_options=words))


@pytest.mark.parametrize(
    ("filesystem", "words"),
    [
        ("btrfs", ("-d", "single", "-m", "single", "-O", "^no-holes")),
        ("f2fs", ("-o", "5", "-O", "extra_attr")),
        ("vfat", ("-F", "32", "-s", "64", "-a")),
        ("exfat", ("-c", "128K", "-f")),
    ],
)
def test_documented_options_of_other_tools_are_allowed(filesystem, words):
    check_options(replace(EXT4, filesystem=filesystem, mkfs_options=words))


@pytest.mark.parametrize(
    ("filesystem", "words"),
    [
        ("btrfs", ("-r", "/root")),
        ("btrfs", ("/dev/sda",)),
        ("btrfs", ("--rootdir", "/root")),
        ("f2fs", ("-c", "/dev/sda")),
        ("vfat", ("-l", "/etc/passwd")),
        ("vfat", ("-m", "/etc/passwd")),
        ("vfat", ("1024",)),
        ("exfat", ("-U", "x")),
    ],
)
def test_options_of_other_tools_that_name_files_are_refused(filesystem, words):
    with pytest.raises(InputError, match=r"^disk\.mkfs_options: "):
        check_options(replace(EXT4, filesystem=filesystem, mkfs_options=words))


@pytest.mark.parametrize(
    ("filesystem", "option"),
    [("btrfs", "compress=zstd"), ("f2fs", "mode=lfs"), ("vfat", "flush"), ("exfat", "umask=022"), ("vfat", "sync")],
)
def test_mount_options_of_other_filesystems_are_checked(filesystem, option):
    check_options(replace(EXT4, filesystem=filesystem, mount_options=(option,)))
    if option != "sync":
        with pytest.raises(InputError, match=r"^disk\.mount_options: unknown option"):
            check_options(replace(EXT4, mount_options=(option,)))


def test_btrfs_options_cannot_add_further_disks():
    with pytest.raises(InputError, match="unknown option 'device=/dev/sda'"):
        check_options(replace(EXT4, filesystem="btrfs", mount_options=("device=/dev/sda",)))


@pytest.mark.parametrize(
    "option", ["sync", "noatime", "data=journal", "commit=30", "nodelalloc", "barrier=0", "stripe=4"]
)
def test_known_mount_options_are_allowed(option):
    check_options(replace(EXT4, mount_options=(option,)))


@pytest.mark.parametrize(
    "option", ["journal_path=/dev/sda", "data=journal,barrier=0", "date=journal", "", "data=/x", "commit=1\n", "wsync"]
)
def test_unknown_mount_options_are_refused(option):
    with pytest.raises(InputError, match=r"^disk\.mount_options: "):
        check_options(replace(EXT4, mount_options=(option,)))


def test_the_options_of_every_preset_are_allowed():
    for path in PRESETS.glob("*.toml"):
        for disk in read_spec(path).disk.values():
            check_options(disk)
