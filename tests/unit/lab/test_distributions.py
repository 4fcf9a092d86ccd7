"""Distributions, recognised by their os-release files."""

import pytest

from wblab.lab.distributions import ALL, this_distribution
from wblab.lab.packages import HEADERS, OPTIONAL_PROGRAMS, PROGRAMS, TEST_HEADERS, TEST_PROGRAMS

# The shortened /etc/os-release of each.
FILES = {
    'PRETTY_NAME="Debian GNU/Linux 13 (trixie)"\nID=debian\n': "Debian",
    "NAME=Ubuntu\nID=ubuntu\nID_LIKE=debian\n": "Debian",
    'ID=linuxmint\nID_LIKE="ubuntu debian"\n': "Debian",
    'NAME="Fedora Linux"\nID=fedora\nVERSION_ID=42\n': "Fedora",
    'ID="rocky"\nID_LIKE="rhel centos fedora"\n': "Fedora",
    'NAME="Arch Linux"\nID=arch\nBUILD_ID=rolling\n': "Arch",
    "ID=manjaro\nID_LIKE=arch\n": "Arch",
    '# a comment\nID="opensuse-tumbleweed"\nID_LIKE="opensuse suse"\n': "openSUSE",
    'ID="opensuse-leap"\nID_LIKE="suse opensuse"\n': "openSUSE",
    'NAME="Alpine Linux"\nID=alpine\n': "Alpine",
    'ID=nixos\nID_LIKE=""\n': "NixOS",
}
COMMANDS = {
    "Debian": "sudo apt-get install --yes --no-install-recommends make xz-utils libc6-dev python3-venv procps",
    "Fedora": "sudo dnf install make xz glibc-devel python3 procps-ng",
    "Arch": "sudo pacman -S --needed make xz glibc python procps-ng",
    "openSUSE": "sudo zypper install make xz glibc-devel python3 procps",
    "Alpine": "sudo apk add make xz musl-dev python3 procps-ng",
    "NixOS": "nix-shell -p gnumake xz python3 procps",
}


@pytest.mark.parametrize(("text", "name"), FILES.items(), ids=range(len(FILES)))
def test_a_distribution_is_recognised_by_its_id_or_id_like(tmp_path, text, name):
    (tmp_path / "os-release").write_text(text)
    assert this_distribution([tmp_path / "os-release"]).name == name


def test_every_distribution_has_a_file_and_a_command_here():
    assert {one.name for one in ALL} == set(FILES.values()) == set(COMMANDS)


@pytest.mark.parametrize("text", ["ID=plan9\n", "", 'ID="debian\n', "nonsense\n"])
def test_an_unknown_distribution_is_none(tmp_path, text):
    (tmp_path / "os-release").write_text(text)
    assert this_distribution([tmp_path / "os-release"]) is None


def test_the_first_existing_file_is_used(tmp_path):
    (tmp_path / "etc").write_text("ID=arch\n")
    (tmp_path / "usr").write_text("ID=alpine\n")
    assert this_distribution([tmp_path / "etc", tmp_path / "usr"]).name == "Arch"
    assert this_distribution([tmp_path / "missing", tmp_path / "usr"]).name == "Alpine"
    assert this_distribution([tmp_path / "missing"]) is None


@pytest.mark.parametrize("one", ALL, ids=lambda one: one.name)
def test_the_install_command_can_be_copied(one):
    needed = ["make", "xz-utils", "libc6-dev", "python3-venv", "procps"]
    assert " ".join(one.command(needed, user=1000)) == COMMANDS[one.name]
    assert "sudo" not in one.command(needed, user=0)


@pytest.mark.parametrize("one", ALL, ids=lambda one: one.name)
def test_only_packages_that_the_lab_needs_are_translated(one):
    programs = PROGRAMS | OPTIONAL_PROGRAMS | TEST_PROGRAMS
    asked = (*programs.values(), *HEADERS.values(), *TEST_HEADERS.values(), "python3-venv")
    assert set(one.differing) <= set(asked)
