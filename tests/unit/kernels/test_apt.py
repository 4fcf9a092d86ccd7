from pathlib import Path

import pytest

from wblab.kernels import apt

DEB822 = """\
Types: deb deb-src
# a remark
URIs: http://one.invalid/debian https://two.invalid/debian
Suites: bookworm bookworm-updates
Components: main contrib
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 abc
 -----END PGP PUBLIC KEY BLOCK-----

Types: deb
URIs: http://one.invalid/debian-security
Suites: bookworm-security
Components: main
Signed-By: /usr/share/keyrings/k.gpg

Enabled: no
Types: deb
URIs: http://three.invalid/debian
Suites: bookworm
Components: main

Types: deb-src
URIs: http://four.invalid/debian
Suites: bookworm
Components: main
"""

ONE_LINE = """\
# deb http://comment.invalid/debian bookworm main
deb cdrom:[Debian]/ bookworm main
deb [arch=amd64,i386 signed-by=/k.gpg] http://one.invalid/debian bookworm main contrib # remark
deb http://other.invalid/apt bookworm-pgdg main
deb http://chat.invalid/linux bookworm stable
deb-src http://one.invalid/debian bookworm main
"""


def test_deb822_entries_keep_their_keyring() -> None:
    one, two, security = apt.parse_deb822(DEB822)
    assert (one.uri, two.uri) == ("http://one.invalid/debian", "https://two.invalid/debian")
    assert one.suites == ("bookworm", "bookworm-updates")
    assert "BEGIN PGP" in dict(one.fields)["Signed-By"]
    assert security.fields == (("Signed-By", "/usr/share/keyrings/k.gpg"),)


def test_one_line_entries_keep_their_options() -> None:
    one, other = apt.parse_one_line(ONE_LINE)
    assert one.uri == "http://one.invalid/debian"
    assert dict(one.fields) == {"Architectures": "amd64 i386", "Signed-By": "/k.gpg"}
    assert other.suites == ("bookworm-pgdg",)


def test_a_suite_is_requested_from_every_debian_mirror() -> None:
    entries = [*apt.parse_deb822(DEB822), *apt.parse_one_line(ONE_LINE)]
    text = apt.sources(entries, "experimental", "bookworm")
    assert [line for line in text.splitlines() if line.startswith("URIs")] == [
        "URIs: http://one.invalid/debian",
        "URIs: https://two.invalid/debian",
    ]
    assert text.count("Suites: experimental") == 2
    assert text.count("BEGIN PGP") == 2
    assert "Targets: Packages" in text


def test_written_entries_are_read_back() -> None:
    entries = tuple(apt.parse_deb822(DEB822))
    again = tuple(apt.parse_deb822(apt.sources(entries[:1], "unstable", "bookworm")))
    assert again == (apt.AptSource("http://one.invalid/debian", ("unstable",), entries[0].fields),)


def test_release_means_the_suites_of_the_system() -> None:
    entries = [*apt.parse_deb822(DEB822), *apt.parse_one_line(ONE_LINE)]
    suites = [line for line in apt.sources(entries, "release", "bookworm").splitlines() if line.startswith("Suites")]
    assert suites == [f"Suites: bookworm{pocket}" for pocket in ("", "-updates", "", "-updates", "-security")]


def test_a_security_suite_is_requested_from_the_security_mirror() -> None:
    text = apt.sources(apt.parse_deb822(DEB822), "stable-security", "bookworm")
    assert [line for line in text.splitlines() if line.startswith("URIs")] == [
        "URIs: http://one.invalid/debian-security"
    ]


def test_another_distribution_has_no_such_suites() -> None:
    ubuntu = apt.parse_one_line("deb http://ubuntu.invalid/ubuntu noble main universe\n")
    assert apt.sources(ubuntu, "unstable", None) == ""


@pytest.mark.parametrize(
    ("release", "codename"),
    [
        ({"ID": "debian", "VERSION_CODENAME": "bookworm"}, "bookworm"),
        ({"ID": "ubuntu", "ID_LIKE": "debian", "VERSION_CODENAME": "noble"}, None),
        ({"ID": "debian"}, None),
        ({}, None),
    ],
)
def test_codename(release: dict[str, str], codename: str | None) -> None:
    assert apt.system_codename(release) == codename


def test_the_system_s_files_are_read_with_debian_s_mirrors_first(tmp_path: Path) -> None:
    (tmp_path / "sources.list.d").mkdir()
    (tmp_path / "sources.list").write_text("deb http://aaa.invalid/apt bookworm main\n")
    (tmp_path / "sources.list.d/debian.sources").write_text(DEB822)
    (tmp_path / "sources.list.d/old.list.save").write_text("deb http://saved.invalid/debian bookworm main\n")
    uris = [entry.uri for entry in apt.system_entries(tmp_path)]
    assert uris[0] == "http://one.invalid/debian"
    assert uris[-1] == "http://aaa.invalid/apt"
    assert "http://saved.invalid/debian" not in uris
    assert apt.system_entries(tmp_path / "absent") == ()


def test_packages_offered_by_apt_are_listed() -> None:
    digest = "8b" * 32
    file = "linux-source-7.3_7.3%7erc7-1_all.deb"
    line = f"'http://one.invalid/pool/{file}' {file} 166042412 SHA256:{digest}\n"
    assert apt.parse_uris(line, "linux-source-7.3", "experimental") == apt.Package(
        "linux-source-7.3", "7.3~rc7-1", "experimental", "linux-source-7.3_7.3~rc7-1_all.deb", 166042412, digest
    )
    assert apt.parse_uris("E: Unable to locate package", "linux-source-7.3", "experimental") is None


def test_a_system_without_apt_is_not_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    assert apt.find("linux-source-7.3", ["unstable"], lambda share, text: None) == "no apt-get here"


def test_apt_hooks_of_the_system_do_not_run_for_our_lists(cache_home: Path) -> None:
    command = apt.command("update")
    conf = Path(command[command.index("-c") + 1]).read_text()
    assert "#clear APT::Update::Post-Invoke;" in conf
    assert f'Dir::State "{cache_home}/apt/state"' in conf


def test_unreadable_lists_are_reported_with_the_reason() -> None:
    text = (
        "W: something\n"
        "E: Failed to fetch http://one.invalid/debian/dists/sid/InRelease  Could not connect to one.invalid:80\n"
        "E: Some index files failed to download.\n"
    )
    assert apt.update_error(text) == "Could not connect to one.invalid:80"
    assert apt.update_error("") == "its lists cannot be read"
