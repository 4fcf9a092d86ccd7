"""A filesystem that the guest's own program serves: what its server answers, and when."""

import errno
import stat
import struct

import pytest

from wblab.core.spec import Disk
from wblab.guest import servedfiles as fuse
from wblab.guest.mounts import mounted_number
from wblab.guest.served import Times
from wblab.guest.servedfiles import Files, Refused, is_of_cache, place_of

ROOT = 1
S = 1_000_000_000
START = (100 * S).to_bytes(8, "little")


@pytest.fixture
def files():
    return Files(1 << 20, write_cache=True)


def node(answer):
    return struct.unpack_from("<Q", answer)[0]


def create(files, name, directory=ROOT):
    asked = struct.pack("<4I", 0, stat.S_IFREG | 0o644, 0, 0) + name + b"\0"
    return node(files.answer(fuse.CREATE, directory, asked, 0))


def write(files, number, offset, data):
    body = memoryview(struct.pack("<QQIIQII", 0, offset, len(data), 1, 0, 0, 0) + data)
    return files.answer(fuse.WRITE, number, body, 5 * S), body


def size(files, number):
    return struct.unpack_from("<Q", files.answer(fuse.GETATTR, number, b"", 0), 16 + 8)[0]


def refusal(files, *request):
    with pytest.raises(Refused) as refused:
        files.answer(*request)
    return refused.value.number


def test_it_asks_for_the_write_cache_only_if_the_spec_wants_it_and_leaves_the_kernel_s_limits():
    asked = struct.pack("<4I", 7, 45, 128 << 10, 0xFFFFFFFF)
    with_cache, without = (Files(1, write_cache=each).answer(fuse.INIT, 0, asked, 0) for each in (True, False))
    assert len(with_cache) == 64
    major, minor, _, flags, background, congestion, most = struct.unpack_from("<4I2HI", with_cache)
    assert (major, minor, background, congestion, most) == (7, 31, 0, 0, 128 << 10)
    assert flags ^ struct.unpack_from("<I", without, 12)[0] == 1 << 16


def test_files_have_sizes_and_zeros(files):
    number = create(files, b"w")
    answer, body = write(files, number, 4096, b"abc")
    assert struct.unpack_from("<I", answer)[0] == 3
    assert (size(files, number), place_of(fuse.WRITE, body), is_of_cache(fuse.WRITE, body)) == (4099, 4096, True)
    read = struct.pack("<QQI", 0, 4090, 4096)
    assert files.answer(fuse.READ, number, read, 0) == bytes(9)
    files.answer(fuse.SETATTR, number, struct.pack("<IIQQ5Q6I", 1 << 3, 0, 0, 10, *[0] * 11), 0)
    assert size(files, number) == 10
    files.answer(fuse.OPEN, number, struct.pack("<II", 0o1000, 0), 0)
    assert size(files, number) == 0
    assert refusal(files, fuse.LOOKUP, ROOT, b"x\0", 0) == errno.ENOENT
    assert refusal(files, fuse.GETATTR, 77, b"", 0) == errno.ESTALE
    assert refusal(files, 22, number, b"", 0) == errno.ENOSYS  # FUSE_GETXATTR


def test_what_has_no_name_any_more_takes_room_until_the_kernel_forgets_it(files):
    number = create(files, b"w")
    write(files, number, 0, bytes(900 << 10))
    other = create(files, b"x")
    body = memoryview(struct.pack("<QQIIQII", 0, 0, 200 << 10, 0, 0, 0, 0) + bytes(200 << 10))
    assert refusal(files, fuse.WRITE, other, body, 0) == errno.ENOSPC
    files.answer(fuse.UNLINK, ROOT, b"w\0", 0)
    assert size(files, number) == 900 << 10
    assert refusal(files, fuse.WRITE, other, body, 0) == errno.ENOSPC
    files.answer(fuse.BATCH_FORGET, 0, struct.pack("<IIQQ", 1, 0, number, 1), 0)
    files.answer(fuse.WRITE, other, body, 0)
    blocks, left = struct.unpack_from("<QQ", files.answer(fuse.STATFS, ROOT, b"", 0))
    assert (blocks, left) == (256, 206)


def test_directories_are_made_listed_in_parts_and_not_removed_with_files_in_them(files):
    below = node(files.answer(fuse.MKDIR, ROOT, struct.pack("<II", 0o755, 0) + b"d\0", 0))
    for at in range(5):
        create(files, b"file%d" % at, below)
    assert refusal(files, fuse.CREATE, below, bytes(16) + b"file0\0", 0) == errno.EEXIST
    assert refusal(files, fuse.RMDIR, ROOT, b"d\0", 0) == errno.ENOTEMPTY
    assert refusal(files, fuse.UNLINK, ROOT, b"d\0", 0) == errno.EISDIR
    listed, at = [], 0
    while part := files.answer(fuse.READDIR, below, struct.pack("<QQI", 0, at, 70), 0):
        assert len(part) <= 70
        while part:
            _, at, length, kind = struct.unpack_from("<QQII", part)
            listed.append((part[24 : 24 + length], kind))
            part = part[24 + length + -length % 8 :]
    assert listed == [(b"file%d" % number, stat.S_IFREG >> 12) for number in range(5)]


def test_a_rename_replaces_a_file_unless_it_must_not(files):
    first, second = create(files, b"a"), create(files, b"b")
    rename = struct.pack("<QII", ROOT, 1, 0) + b"a\0b\0"
    assert refusal(files, fuse.RENAME2, ROOT, rename, 0) == errno.EEXIST
    files.answer(fuse.RENAME, ROOT, struct.pack("<Q", ROOT) + b"a\0b\0", 0)
    assert node(files.answer(fuse.LOOKUP, ROOT, b"b\0", 0)) == first
    files.answer(fuse.FORGET, second, struct.pack("<Q", 1), 0)
    assert refusal(files, fuse.GETATTR, second, b"", 0) == errno.ESTALE


def test_a_request_takes_its_latency_and_its_bytes_one_after_the_other():
    times = Times(Disk(write_bps=1000, read_bps=2000, latency=S // 10), START)
    assert times.answered(0, 1000, 0) == 1.1 * S
    assert times.answered(0, 1000, 0) == 2.1 * S  # its latency is that of the one before it
    assert times.answered(10 * S, 0, 1000) == 10.6 * S


@pytest.mark.parametrize(
    ("begins", "takes", "ends", "gone"),
    [
        (50, 10, 60, 0),  # before the loads
        (100, 9, 109, 0),
        (95, 20, 120, 5),
        (112, 3, 118, 3),
        (115, 25, 150, 10),
        (110, 0, 115, 5),
    ],
)
def test_nothing_passes_while_the_server_is_gone(begins, takes, ends, gone):
    times = Times(Disk(write_bps=1, up=10 * S, down=5 * S), START)
    assert times.after(begins * S, takes * S) == ends * S
    assert times.gone_ns(ends * S) - times.gone_ns(begins * S) == gone * S
    assert Times(Disk(write_bps=1, up=10 * S, down=5 * S), bytes(8)).after(112 * S, S) == 113 * S  # no start is known


def test_a_mount_s_number_is_read_without_its_server(tmp_path):
    listed = tmp_path / "mountinfo"
    listed.write_text("25 1 0:24 / /mnt rw - tmpfs tmpfs rw\n30 25 0:31 / /mnt/nas rw,nosuid - fuse nas rw\n")
    assert mounted_number(tmp_path.__class__("/mnt/nas"), listed) == "0:31"
    with pytest.raises(FileNotFoundError):
        mounted_number(tmp_path.__class__("/mnt/other"), listed)
