"""Places of sources, tested with sites on this machine; Debian and kernel.org are not contacted."""

import hashlib
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from wblab.core.errors import WblabError
from wblab.kernels import apt, catalog, places
from wblab.kernels.catalog import Catalog, Series
from wblab.kernels.pins import Pin
from wblab.lab.progress import silent

PACKAGE = b"a package"
SHA256 = hashlib.sha256(PACKAGE).hexdigest()
VERSION = "7.3~rc7-1~exp1"
PIN = Pin("debian", VERSION, SHA256)

LISTING = """\
-----BEGIN PGP SIGNED MESSAGE-----
{a}  linux-7.3.tar.gz
{a}  linux-7.3.tar.xz
{b}  linux-7.3.9.tar.xz
{c}  linux-7.3.10.tar.xz
{a}  linux-7.30.1.tar.xz
{a}  patch-7.3.11.xz
""".format(a="a" * 64, b="b" * 64, c="c" * 64)


@pytest.fixture
def web() -> Iterator[dict[str, bytes]]:
    """What a server on this machine answers, by path; its address is under \"\"."""

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            content = served.get(self.path)
            self.send_response(200 if content is not None else 404)
            self.end_headers()
            self.wfile.write(content or b"")

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    served = {"": f"http://127.0.0.1:{server.server_port}".encode()}
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield served
    server.shutdown()
    server.server_close()


@pytest.fixture
def dpkg(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only program in PATH, an empty dpkg-deb; a test may remove it."""
    program = tmp_path / "bin" / "dpkg-deb"
    program.parent.mkdir()
    program.touch(0o755)
    monkeypatch.setenv("PATH", str(program.parent))
    return program


@pytest.fixture
def known(lab: Path, web: dict[str, bytes], dpkg: Path, monkeypatch: pytest.MonkeyPatch) -> Catalog:
    """The small lab with sites on this machine and an empty apt."""
    monkeypatch.setattr(apt, "find", lambda name, *_: f"apt offers no {name}")
    return replace(catalog.load(lab), snapshot=web[""].decode(), kernel_org=web[""].decode() + "/v{major}.x")


@pytest.fixture
def series(known: Catalog) -> Series:
    return known.find("7.3")


def archived(web: dict[str, bytes], content: bytes = PACKAGE) -> None:
    """Add a package to the archive of old packages, in the form of its interface."""
    name = hashlib.sha1(PACKAGE, usedforsecurity=False).hexdigest()
    found = {"binary": "linux-source-7.3", "result": [{"architecture": "all", "hash": name}]}
    web["/mr/binary/linux-source-7.3/7.3~rc7-1~exp1/binfiles"] = json.dumps(found).encode()
    web[f"/file/{name}"] = content


def test_a_package_that_apt_no_longer_has_comes_from_the_archive(known, series, web):
    archived(web)
    assert places.fetch(PIN, series, known, silent) == []
    source = places.source_of(PIN, series)
    assert source.description == "Debian linux-source-7.3 7.3~rc7-1~exp1"
    assert Path(source.path).read_bytes() == PACKAGE
    web.clear()
    assert places.fetch(PIN, series, known, silent) == []


def test_a_package_in_apt_is_taken_from_apt(known, series, monkeypatch):
    file = "linux-source-7.3_7.3~rc7-1~exp1_all.deb"
    package = apt.Package("linux-source-7.3", VERSION, "unstable", file, 9, SHA256)
    monkeypatch.setattr(apt, "find", lambda *_: package)
    monkeypatch.setattr(apt, "download", lambda package, folder, report: (folder / file).write_bytes(PACKAGE))
    assert places.fetch(PIN, series, known, silent) == []


def test_the_same_version_with_other_contents_is_refused(known, series, web, monkeypatch):
    package = apt.Package("linux-source-7.3", VERSION, "unstable", "x.deb", 9, "0" * 64)
    monkeypatch.setattr(apt, "find", lambda *_: package)
    monkeypatch.setattr(apt, "download", lambda *_: pytest.fail("it is another one"))
    archived(web, b"another package")
    reasons = places.fetch(PIN, series, known, silent)
    assert reasons[0] == "linux-source-7.3 7.3~rc7-1~exp1 from apt has another digest"
    assert "has the wrong digest" in reasons[1]
    assert not places.source_of(PIN, series).is_here


@pytest.mark.parametrize(
    "answer", [None, b"<html>", b"{}", b'{"result": []}', b'{"result": [{"architecture": "i386"}]}']
)
def test_an_archive_without_the_package_is_reported(known, series, web, answer):
    if answer is not None:
        web["/mr/binary/linux-source-7.3/7.3~rc7-1~exp1/binfiles"] = answer
    reasons = places.fetch(PIN, series, known, silent)
    assert reasons[0] == "apt offers no linux-source-7.3"
    assert reasons[1].startswith(known.snapshot)


def test_a_system_that_cannot_unpack_packages_takes_tarballs(known, series, web, dpkg):
    dpkg.unlink()
    assert places.fetch(PIN, series, known, silent) == ["no dpkg-deb here"]
    web["/v7.x/sha256sums.asc"] = LISTING.encode()
    assert places.newest(series, known, silent) == Pin("kernel_org", "7.3.10", "c" * 64)


def test_the_newest_version_comes_from_apt_if_possible(known, series, monkeypatch):
    package = apt.Package("linux-source-7.3", "7.3-1", "unstable", "x.deb", 9, "1" * 64)
    monkeypatch.setattr(apt, "find", lambda *_: package)
    assert places.newest(series, known, silent) == Pin("debian", "7.3-1", "1" * 64)


def test_without_a_newer_version_all_reasons_are_given(known, series):
    first, second = places.newest(series, known, silent)
    assert first == "apt offers no linux-source-7.3"
    assert "cannot be read (HTTP Error 404" in second or "cannot be read (Not Found" in second


def test_a_tarball_is_fetched_by_its_version(known, series, web):
    pin = Pin("kernel_org", "7.3.10", SHA256)
    web["/v7.x/linux-7.3.10.tar.xz"] = PACKAGE
    assert places.fetch(pin, series, known, silent) == []
    assert places.source_of(pin, series).path.endswith("/archives/linux-7.3.10.tar.xz")


def test_the_newest_release_of_a_series():
    assert places.newest_tarball("7.3", LISTING) == places.Tarball("7.3.10", "c" * 64)
    assert places.newest_tarball("6.1", LISTING) is None


def test_a_download_with_another_digest_is_not_kept(web, tmp_path):
    web["/a"] = b"broken"
    for digest in (SHA256, "0" * 64):
        with pytest.raises(WblabError, match="has the wrong digest"):
            places.download(f"{web[''].decode()}/a", digest, tmp_path / "a", silent)
    with pytest.raises(WblabError, match="cannot fetch"):
        places.download(f"{web[''].decode()}/b", SHA256, tmp_path / "b", silent)
    assert list(tmp_path.glob("*[ab]")) == []


def test_a_download_follows_no_link(web, tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("untouched")
    (tmp_path / ".a").symlink_to(victim)
    (tmp_path / "a").symlink_to(victim)
    web["/a"] = PACKAGE
    assert places.download(f"{web[''].decode()}/a", SHA256, tmp_path / "a", silent).read_bytes() == PACKAGE
    assert victim.read_text() == "untouched"


def test_what_makes_runs_does_not_import_what_reads_the_net() -> None:
    program = (
        "import sys, wblab.commands.run, wblab.host.run; sys.exit(not sys.modules.keys().isdisjoint(sys.argv[1:]))"
    )
    assert subprocess.run([sys.executable, "-c", program, "ssl", "http", "email"], check=False).returncode == 0
