import hashlib
import os
import subprocess
from pathlib import Path

import pytest

from wblab.core.errors import InputError, WblabError
from wblab.host.kernel import kernel_org, source
from wblab.host.progress import silent

LISTING = """\
-----BEGIN PGP SIGNED MESSAGE-----
{a}  linux-7.3.tar.gz
{a}  linux-7.3.tar.xz
{b}  linux-7.3.9.tar.xz
{c}  linux-7.3.10.tar.xz
{a}  linux-7.30.1.tar.xz
{a}  patch-7.3.11.xz
""".format(a="a" * 64, b="b" * 64, c="c" * 64)


def tarball(tree: Path, path: Path) -> Path:
    subprocess.run(["tar", "-cf", str(path), "-C", str(tree.parent), tree.name], check=True)
    return path


def test_an_archive_is_unpacked_once(tree: Path, tmp_path: Path) -> None:
    archive = tarball(tree, tmp_path / "linux-7.3.tar")
    given = source.given(archive)
    assert given.identity == f"sha256:{hashlib.sha256(archive.read_bytes()).hexdigest()}"
    unpacked = source.unpack(given, silent)
    assert (unpacked / "hello.c").exists()
    assert archive.exists()  # the user's: stays
    archive.unlink()
    assert source.unpack(given, silent) == unpacked
    assert given.is_here


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root: others cannot give files away")
def test_what_root_unpacks_is_root_s_and_nobody_else_s_to_write(tree: Path, tmp_path: Path) -> None:
    os.chown(tree / "hello.c", 54321, 54321)
    (tree / "hello.c").chmod(0o4777)
    old = os.umask(0o022)
    try:
        unpacked = source.unpack(source.given(tarball(tree, tmp_path / "linux-7.3.tar")), silent) / "hello.c"
    finally:
        os.umask(old)
    assert (unpacked.stat().st_uid, unpacked.stat().st_gid) == (0, 0)
    assert unpacked.stat().st_mode & 0o7777 == 0o755


def test_an_archive_of_something_else_is_named(tmp_path: Path) -> None:
    (tmp_path / "other/sub").mkdir(parents=True)
    archive = tarball(tmp_path / "other", tmp_path / "other.tar")
    with pytest.raises(InputError, match=r"other\.tar does not hold a kernel tree"):
        source.unpack(source.given(archive), silent)


def test_a_broken_archive_is_named(tmp_path: Path) -> None:
    archive = tmp_path / "broken.tar"
    archive.write_bytes(b"\0not a tarball" * 999)
    with pytest.raises(WblabError, match=r"cannot unpack .*broken\.tar: tar: "):
        source.unpack(source.given(archive), silent)


def test_a_file_that_is_no_source_says_what_is(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").touch()
    with pytest.raises(InputError, match=r"notes\.txt is neither a kernel tree, an archive"):
        source.given(tmp_path / "notes.txt")


def test_the_newest_release_of_a_series() -> None:
    found = kernel_org.newest("7.3", LISTING, "https://kernel.invalid/v7.x")
    assert found == kernel_org.Tarball("7.3.10", "https://kernel.invalid/v7.x/linux-7.3.10.tar.xz", "c" * 64)
    assert kernel_org.newest("6.1", LISTING, "") is None


def test_a_tarball_is_checked_against_its_digest(tmp_path: Path) -> None:
    site, target = tmp_path / "v7.x", tmp_path / "archives"
    site.mkdir()
    target.mkdir()
    (site / "linux-7.3.tar.xz").write_bytes(b"kernel")
    (site / "sha256sums.asc").write_text(f"{hashlib.sha256(b'kernel').hexdigest()}  linux-7.3.tar.xz\n")
    found = kernel_org.find("7.3", f"{tmp_path.as_uri()}/v{{major}}.x")
    assert isinstance(found, kernel_org.Tarball)
    assert kernel_org.download(found, target, silent).read_bytes() == b"kernel"
    (site / "linux-7.3.tar.xz").write_bytes(b"broken")
    with pytest.raises(WblabError, match="is not what sha256sums"):
        kernel_org.download(found, target, silent)
    assert [path.name for path in target.iterdir()] == ["linux-7.3.tar.xz"]


def test_a_site_that_cannot_be_reached_is_a_reason(tmp_path: Path) -> None:
    reason = kernel_org.find("7.3", tmp_path.as_uri())
    assert isinstance(reason, str)
    assert "cannot be read" in reason
