"""Distributions, recognised by their os-release files."""

from pathlib import Path

import pytest

from wblab.lab.distributions import ALL, os_release, this_distribution
from wblab.lab.packages import HEADERS, OPTIONAL_PROGRAMS, PROGRAMS, TEST_HEADERS, TEST_PROGRAMS

# ID and ID_LIKE of each in its os-release(5).
RELEASES = {
    ("debian", ""): "Debian",
    ("ubuntu", "debian"): "Debian",
    ("linuxmint", "ubuntu debian"): "Debian",
    ("fedora", ""): "Fedora",
    ("rocky", "rhel centos fedora"): "Fedora",
    ("arch", ""): "Arch",
    ("manjaro", "arch"): "Arch",
    ("opensuse-tumbleweed", "opensuse suse"): "openSUSE",
    ("opensuse-leap", "suse opensuse"): "openSUSE",
    ("alpine", ""): "Alpine",
    ("nixos", ""): "NixOS",
}
COMMANDS = {
    "Debian": "sudo apt-get install --yes --no-install-recommends make xz-utils libc6-dev python3-venv procps",
    "Fedora": "sudo dnf install make xz glibc-devel python3 procps-ng",
    "Arch": "sudo pacman -S --needed make xz glibc python procps-ng",
    "openSUSE": "sudo zypper install make xz glibc-devel python3 procps",
    "Alpine": "sudo apk add make xz musl-dev python3 procps-ng",
    "NixOS": "nix-shell -p gnumake xz python3 procps",
}


@pytest.mark.parametrize(("release", "name"), RELEASES.items())
def test_a_distribution_is_recognised_by_its_id_or_id_like(release, name):
    assert this_distribution(dict(zip(("ID", "ID_LIKE"), release, strict=True))).name == name


def test_every_distribution_has_an_id_and_a_command_here():
    assert {one.name for one in ALL} == set(RELEASES.values()) == set(COMMANDS)


@pytest.mark.parametrize("release", [{"ID": "plan9"}, {}, {"ID_LIKE": "plan9 inferno"}])
def test_an_unknown_distribution_is_none(release):
    assert this_distribution(release) is None


def test_this_machine_s_variables_are_those_of_its_file():
    file = next((path for path in map(Path, ("/etc/os-release", "/usr/lib/os-release")) if path.is_file()), None)
    name = os_release().get("ID")
    assert name is None if file is None else name in file.read_text()


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
