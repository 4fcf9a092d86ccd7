import subprocess
import sys

import pytest

from wblab.lab import packages
from wblab.lab.distributions import ALL, DEBIAN
from wblab.lab.packages import PROGRAMS, TEST_PROGRAMS, advice, missing_packages, missing_test_packages
from wblab.lab.places import ROOT


@pytest.fixture(autouse=True)
def here(monkeypatch):
    """Return a function that sets the distribution, which is Debian at first."""

    def be(distribution):
        monkeypatch.setattr(packages, "this_distribution", lambda: distribution)

    be(DEBIAN)
    return be


def test_missing_tools_are_named_by_package(monkeypatch):
    monkeypatch.setattr(packages, "tool_path", lambda name: None if name in ("xz", "bc") else "/bin/true")
    monkeypatch.setattr(packages, "HEADERS", {})
    monkeypatch.setattr(packages, "find_spec", lambda name: name)
    assert missing_packages() == ["bc", "xz-utils"]


def test_headers_and_venv_are_looked_for(monkeypatch, tmp_path):
    monkeypatch.setattr(packages, "tool_path", lambda name: "/bin/true")
    monkeypatch.setattr(packages, "_INCLUDE", tmp_path)
    monkeypatch.setattr(packages, "find_spec", lambda name: None)
    assert missing_packages() == ["libc6-dev", "linux-libc-dev", "python3-venv"]


def test_a_bare_machine_misses_everything(monkeypatch):
    monkeypatch.setattr(packages, "tool_path", lambda name: None)
    assert set(missing_packages()) >= set(PROGRAMS.values())


def test_headers_are_not_checked_if_they_are_elsewhere(here, monkeypatch, tmp_path):
    here(next(one for one in ALL if one.name == "NixOS"))
    monkeypatch.setattr(packages, "tool_path", lambda name: "/bin/true")
    monkeypatch.setattr(packages, "_INCLUDE", tmp_path)
    assert missing_packages() == []
    assert missing_test_packages() == []


def test_tests_do_not_require_packages_that_the_distribution_lacks(here, monkeypatch, tmp_path):
    here(next(one for one in ALL if one.name == "openSUSE"))
    monkeypatch.setattr(packages, "_INCLUDE", tmp_path)
    assert "libtracecmd-dev" not in missing_test_packages()
    assert "libtracefs-dev" in missing_test_packages()


def test_an_unknown_distribution_gets_debian_s_names(here):
    here(None)
    assert advice(["bc", "xz-utils"]) == "install your distribution's packages for Debian's bc xz-utils"


def test_runs_do_not_need_the_packages_of_tests(monkeypatch):
    monkeypatch.setattr(packages, "tool_path", lambda name: None if name in TEST_PROGRAMS else "/bin/true")
    assert not set(missing_packages()) & set(TEST_PROGRAMS.values())
    assert set(missing_test_packages()) >= set(TEST_PROGRAMS.values())


def test_any_browser_of_the_kind_will_do(monkeypatch):
    monkeypatch.setattr(packages, "tool_path", lambda name: None if name.startswith("chromium") else "/bin/true")
    assert "chromium" not in missing_test_packages()
    monkeypatch.setattr(packages, "BROWSERS", ("chromium",))
    assert "chromium" in missing_test_packages()


@pytest.fixture
def machine(monkeypatch):
    """Return a function that sets missing and unavailable packages and the user; it returns the commands run."""

    def make(needed=(), more=(), *, user=0, not_there=()):
        ran = []

        def run(command, **_):
            ran.append(" ".join(command))
            return subprocess.CompletedProcess(command, 100 if set(command) & set(not_there) else 0)

        monkeypatch.setattr(packages, "missing_packages", lambda: list(needed))
        monkeypatch.setattr(packages, "missing_test_packages", lambda: list(more))
        monkeypatch.setattr(packages.os, "geteuid", lambda: user)
        monkeypatch.setattr(packages.shutil, "which", lambda name: f"/usr/bin/{name}")
        monkeypatch.setattr(packages.subprocess, "run", run)
        monkeypatch.setattr(packages.sys, "argv", ["packages", "--tests"])
        return ran

    return make


@pytest.mark.parametrize("user", [0, 1000])
def test_nothing_is_installed_if_nothing_is_missing(machine, user):
    ran = machine(user=user)
    assert packages.main() == 0
    assert ran == []


def test_root_installs_missing_packages(machine):
    ran = machine(needed=["bc", "flex"], more=["strace"])
    assert packages.main() == 0
    assert [command.rpartition("recommends ")[2] for command in ran[1:]] == ["bc flex", "strace"]


def test_an_unavailable_package_of_tests_does_not_block_others(machine):
    ran = machine(more=["chromium", "strace"], not_there=["chromium"])
    assert packages.main() == 0
    assert ran[-1].endswith("strace")


def test_an_unavailable_package_of_runs_is_a_failure(machine):
    machine(needed=["bc"], not_there=["bc"])
    assert packages.main() == 100


def test_missing_packages_of_tests_are_only_a_warning(machine, capsys):
    assert machine(more=["strace"], user=1000) == []
    assert packages.main() == 0
    assert capsys.readouterr().err == (
        "wblab: some tests will be skipped; to run all, run "
        "'sudo apt-get install --yes --no-install-recommends strace' first\n"
    )


def test_packages_are_installed_automatically_only_on_debian(machine, here, capsys):
    here(next(one for one in ALL if one.name == "Fedora"))
    assert machine(needed=["bc", "xz-utils"]) == []
    assert packages.main() == 2
    assert capsys.readouterr().err == "wblab: missing packages: run 'dnf install bc xz' first\n"


def test_an_ordinary_user_gets_one_command_for_runs_and_tests(machine, capsys):
    machine(needed=["bc"], more=["strace"], user=1000)
    assert packages.main() == 2
    assert "recommends bc strace' first" in capsys.readouterr().err


def test_an_ordinary_user_gets_the_command_to_run(machine, monkeypatch, capsys):
    machine(needed=["bc"], user=1000)
    monkeypatch.setattr(packages.sys, "argv", ["packages"])
    assert packages.main() == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err == (
        "wblab: missing packages: run 'sudo apt-get install --yes --no-install-recommends bc' first\n"
    )


def test_the_module_needs_only_the_standard_library():
    code = "import wblab.lab.packages, sys; print([n for n in sys.modules if n in ('numpy', 'rich', 'matplotlib')])"
    done = subprocess.run([sys.executable, "-S", "-c", code], check=False, cwd=ROOT, capture_output=True, text=True)
    assert done.stdout == "[]\n"
