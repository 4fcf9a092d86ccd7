import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from wblab.core.errors import InputError, WblabError
from wblab.kernels import source
from wblab.lab.progress import silent


def tarball(tree: Path, path: Path) -> Path:
    subprocess.run(["tar", "-cf", str(path), "-C", str(tree.parent), tree.name], check=True)
    return path


def test_an_archive_is_unpacked_once(tree: Path, tmp_path: Path) -> None:
    archive = tarball(tree, tmp_path / "linux-7.3.tar")
    given = source.given(archive)
    assert given.identity == f"sha256:{hashlib.sha256(archive.read_bytes()).hexdigest()}"
    unpacked = source.unpack(given, silent)
    assert (unpacked / "hello.c").exists()
    assert archive.exists()  # the user's file is kept
    archive.unlink()
    assert source.unpack(given, silent) == unpacked
    assert given.is_here


def test_files_that_no_build_reads_are_not_unpacked(tree: Path, tmp_path: Path) -> None:
    read = [
        *(
            "Documentation/Kconfig",
            "arch/Kconfig",
            "arch/um/kernel/a.c",
            "arch/x86/um/sub/a.c",
            "arch/arm/crypto/Kconfig",
        ),
        *(
            "tools/include/a.h",
            "drivers/gpu/drm/amd/amdgpu/Kconfig",
            "include/a/Documentation/a.h",
            "fs/arch/arm/a/a.c",
        ),
    ]
    never_read = [
        *(
            "Documentation/a.rst",
            "Documentation/admin-guide/a.rst",
            "arch/arm/crypto/a.S",
            "arch/sh/boot/dts/sub/a.dts",
        ),
        *("tools/testing/a/a.c", "tools/perf/a.c", "drivers/gpu/drm/amd/include/a/a.h"),
    ]
    for name in read + never_read:
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).touch()
    unpacked = source.unpack(source.given(tarball(tree, tmp_path / "linux-7.3.tar")), silent)
    assert [name for name in read if not (unpacked / name).exists()] == []
    assert [name for name in never_read if (unpacked / name).exists()] == []


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root: others cannot give files away")
def test_files_that_root_unpacks_are_writable_only_by_root(tree: Path, tmp_path: Path) -> None:
    os.chown(tree / "hello.c", 54321, 54321)
    (tree / "hello.c").chmod(0o4777)
    old = os.umask(0o022)
    try:
        unpacked = source.unpack(source.given(tarball(tree, tmp_path / "linux-7.3.tar")), silent) / "hello.c"
    finally:
        os.umask(old)
    assert (unpacked.stat().st_uid, unpacked.stat().st_gid) == (0, 0)
    assert unpacked.stat().st_mode & 0o7777 == 0o755


@pytest.mark.skipif(shutil.which("dpkg-deb") is None, reason="needs dpkg-deb, to make a package")
def test_the_tarball_in_a_package_is_unpacked(tree: Path, tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "usr/src").mkdir(parents=True)
    subprocess.run(["tar", "-cJf", root / "usr/src/linux-source-7.3.tar.xz", "-C", tree.parent, tree.name], check=True)
    (root / "DEBIAN").mkdir()
    control = "Package: linux-source-7.3\nVersion: 7.3\nArchitecture: all\nMaintainer: n\nDescription: none\n"
    (root / "DEBIAN").chmod(0o755)  # dpkg-deb requires it, independent of the umask
    (root / "DEBIAN/control").write_text(control)
    package = tmp_path / "linux-source-7.3_7.3_all.deb"
    subprocess.run(["dpkg-deb", "--build", "--root-owner-group", root, package], check=True, stdout=subprocess.DEVNULL)
    assert (source.unpack(source.given(package), silent) / "hello.c").read_text() == (tree / "hello.c").read_text()


def test_an_archive_of_another_program_is_refused(tmp_path: Path) -> None:
    (tmp_path / "other/sub").mkdir(parents=True)
    archive = tarball(tmp_path / "other", tmp_path / "other.tar")
    with pytest.raises(InputError, match=r"other\.tar does not hold a kernel tree"):
        source.unpack(source.given(archive), silent)


def test_a_broken_archive_is_named(tmp_path: Path) -> None:
    archive = tmp_path / "broken.tar"
    archive.write_bytes(b"\0not a tarball" * 999)
    with pytest.raises(WblabError, match=r"cannot unpack .*broken\.tar: tar: "):
        source.unpack(source.given(archive), silent)


def test_a_file_that_is_not_a_source_is_refused_with_the_alternatives(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").touch()
    with pytest.raises(InputError, match=r"notes\.txt is neither a kernel tree, an archive"):
        source.given(tmp_path / "notes.txt")


def test_an_archive_that_changed_is_not_unpacked(tree: Path, tmp_path: Path) -> None:
    given = source.given(tarball(tree, tmp_path / "linux-7.3.tar"))
    with Path(given.path).open("ab") as file:
        file.write(bytes(512))
    with pytest.raises(WblabError, match=r"linux-7\.3\.tar has the wrong digest"):
        source.unpack(given, silent)
    assert not given.tree.exists()
