"""What is taken out of a package: the kernel's own files, wherever their names point."""

import io
import re
import tarfile

import pytest

from wblab.core.errors import WblabError
from wblab.kernels.stock import take
from wblab.lab.progress import silent

MODULES = "./usr/lib/modules/7.2.11"
KEPT = (
    "./boot/vmlinuz-7.2.11",
    "./boot/config-7.2.11",
    f"{MODULES}/config",
    f"{MODULES}/kernel/fs/ext4/ext4.ko.xz",
    f"{MODULES}/modules.builtin",
)
HOSTILE = ("./boot/vmlinuz-/../../../outside", f"{MODULES}/kernel/fs/../../../../../../outside.ko", "/boot/vmlinuz-x")


def packed(*names: str) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        for name in names:
            archive.addfile(tarfile.TarInfo(name))
        link = tarfile.TarInfo("./boot/vmlinuz-link")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    return file.getvalue()


@pytest.fixture
def unpack(tmp_path, monkeypatch):
    """Return a function that unpacks what a dpkg-deb in its place prints; it returns the files."""
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin:/bin")

    def unpack(content: bytes, code: int = 0) -> set[str]:
        (tmp_path / "tar").write_bytes(content)
        (tmp_path / "bin/dpkg-deb").write_text(f"#!/bin/sh\ncat {tmp_path}/tar\nexit {code}\n")
        (tmp_path / "bin/dpkg-deb").chmod(0o755)
        (tmp_path / "a.deb").touch()
        before = set(tmp_path.parent.iterdir())
        take._unpack(tmp_path / "a.deb", tmp_path / "root", silent)
        assert set(tmp_path.parent.iterdir()) == before
        return {f"./{path.relative_to(tmp_path / 'root')}" for path in (tmp_path / "root").rglob("*") if path.is_file()}

    return unpack


def test_only_the_kernels_files_are_taken(unpack):
    others = ("./usr/share/doc/x", f"{MODULES}/kernel/sound/snd.ko", "./boot/System.map-7.2.11")
    assert unpack(packed(*KEPT, *others)) == set(KEPT)


@pytest.mark.parametrize("part", ["image", "base", "binary", "modules"])  # Debian 12 has the first only
def test_a_kernel_is_in_several_packages(part):
    pattern = take._PACKAGE.format(series=r"7\.2")
    assert re.fullmatch(pattern, f"linux-{part}-7.2.11+deb13-amd64")
    assert not re.fullmatch(pattern, f"linux-{part}-7.21+deb13-amd64")


def test_no_name_leads_out_of_the_directory(unpack):
    assert unpack(packed(*HOSTILE)) == set()


@pytest.mark.parametrize(("content", "code"), [(b"no tar at all" * 99, 1), (packed(*KEPT)[:700], 2)])
def test_a_damaged_package_is_said(unpack, content, code):
    with pytest.raises(WblabError, match=r"cannot unpack a\.deb: is it whole\?"):
        unpack(content, code)
