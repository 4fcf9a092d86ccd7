"""The guest's root is an archive that others unpack too."""

import os
import shutil
import stat
import subprocess

import pytest

from wblab.substrates.qemu.initramfs import ArchivedFile, archive, link, regular

ENTRIES = (
    ArchivedFile("/dev", stat.S_IFDIR | 0o755),
    regular("/usr/bin/python3", b"\x7fELF" + bytes(range(256)) * 17, executable=True),
    regular("/usr/lib/os.py", b""),
    regular("/a file", b"1"),
    regular("/usr/lib/müll", b"123"),
    link("/lib", "usr/lib"),
)


def read(data: bytes) -> dict[str, tuple[int, bytes]]:
    """Return the mode and content of each file, as Documentation/driver-api/early-userspace/buffer-format.rst says."""
    found, at = {}, 0
    while True:
        assert data[at : at + 6] == b"070701"
        assert at % 4 == 0
        fields = [int(data[at + 6 + 8 * number : at + 14 + 8 * number], 16) for number in range(13)]
        name = data[at + 110 : at + 110 + fields[11] - 1].decode()
        assert data[at + 109 + fields[11]] == 0
        begin = -(-(at + 110 + fields[11]) // 4) * 4
        if name == "TRAILER!!!":
            assert begin == len(data)
            return found
        assert name not in found
        found[name] = fields[1], data[begin : begin + fields[6]]
        at = -(-(begin + fields[6]) // 4) * 4


def test_all_files_are_in_it_behind_their_directories():
    found = read(archive(ENTRIES))
    assert list(found) == [
        *("dev", "usr", "usr/bin", "usr/bin/python3", "usr/lib", "usr/lib/os.py", "a file", "usr/lib/müll", "lib")
    ]
    assert found["usr/bin/python3"] == (stat.S_IFREG | 0o755, ENTRIES[1].data)
    assert found["lib"] == (stat.S_IFLNK | 0o777, b"usr/lib")


def test_the_same_files_give_the_same_bytes_and_a_second_archive_fits_behind():
    assert archive(ENTRIES) == archive(list(ENTRIES))
    assert len(archive(ENTRIES)) % 4 == 0
    assert list(read(archive([*ENTRIES, *ENTRIES]))) == list(read(archive(ENTRIES)))


def test_a_device_has_its_numbers():
    data = archive([ArchivedFile("/console", stat.S_IFCHR | 0o600, device=(5, 1))])
    assert [int(data[6 + 8 * number : 14 + 8 * number], 16) for number in (1, 9, 10)] == [stat.S_IFCHR | 0o600, 5, 1]


@pytest.mark.skipif(shutil.which("cpio") is None, reason="cpio is not installed")
def test_the_systems_cpio_unpacks_it(tmp_path):
    subprocess.run(["cpio", "-idm", "--quiet"], input=archive(ENTRIES), cwd=tmp_path, check=True)
    for entry in ENTRIES[1:5]:
        path = tmp_path / entry.path.lstrip("/")
        assert path.read_bytes() == entry.data
        assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(entry.mode)
    assert os.readlink(tmp_path / "lib") == "usr/lib"
