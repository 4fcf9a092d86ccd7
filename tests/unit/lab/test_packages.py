import subprocess
import sys

import pytest

from wblab.lab import packages
from wblab.lab.distributions import ALL, DEBIAN
from wblab.lab.packages import PROGRAMS, TEST_PROGRAMS, advice, missing_packages, missing_test_packages
from wblab.lab.places import ROOT


@pytest.fixture(autouse=True)
def here(monkeypatch):
    """Return what says which distribution this is: Debian, to begin with."""

    def be(distribution):
        monkeypatch.setattr(packages, "this_distribution", lambda: distribution)

    be(DEBIAN)
    return be


def test_what_is_missing_is_named_by_package(monkeypatch):
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


def test_headers_are_not_looked_for_where_they_are_elsewhere(here, monkeypatch, tmp_path):
    here(next(one for one in ALL if one.name == "NixOS"))
    monkeypatch.setattr(packages, "tool_path", lambda name: "/bin/true")
    monkeypatch.setattr(packages, "_INCLUDE", tmp_path)
    assert missing_packages() == []
    assert missing_test_packages() == []


def test_tests_do_not_ask_for_what_the_distribution_does_not_have(here, monkeypatch, tmp_path):
    here(next(one for one in ALL if one.name == "openSUSE"))
    monkeypatch.setattr(packages, "_INCLUDE", tmp_path)
    assert "libtracecmd-dev" not in missing_test_packages()
    assert "libtracefs-dev" in missing_test_packages()


def test_on_a_distribution_that_is_not_known_debian_s_names_are_told(here):
    here(None)
    assert advice(["bc", "xz-utils"]) == "install what your distribution has for Debian's bc xz-utils"


def test_a_run_needs_nothing_that_only_tests_do(monkeypatch):
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
    """Return what sets what is missing, who we are and which packages cannot be had; it returns the commands run."""

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
def test_nothing_is_done_where_nothing_is_missing(machine, user):
    ran = machine(user=user)
    assert packages.main() == 0
    assert ran == []


def test_root_gets_what_is_missing(machine):
    ran = machine(needed=["bc", "flex"], more=["strace"])
    assert packages.main() == 0
    assert [command.rpartition("recommends ")[2] for command in ran[1:]] == ["bc flex", "strace"]


def test_a_package_of_tests_that_cannot_be_had_keeps_no_other_away(machine):
    ran = machine(more=["chromium", "strace"], not_there=["chromium"])
    assert packages.main() == 0
    assert ran[-1].endswith("strace")


def test_a_package_of_runs_that_cannot_be_had_is_a_failure(machine):
    machine(needed=["bc"], not_there=["bc"])
    assert packages.main() == 100


def test_an_ordinary_user_is_told_what_the_tests_lack_and_may_go_on(machine, capsys):
    assert machine(more=["strace"], user=1000) == []
    assert packages.main() == 0
    assert capsys.readouterr().err == (
        "wblab: some tests will be left out; for all of them run "
        "'sudo apt-get install --yes --no-install-recommends strace' first\n"
    )


def test_only_debian_installs_by_itself(machine, here, capsys):
    here(next(one for one in ALL if one.name == "Fedora"))
    assert machine(needed=["bc", "xz-utils"]) == []
    assert packages.main() == 2
    assert capsys.readouterr().err == "wblab: missing packages: run 'dnf install bc xz' first\n"


def test_an_ordinary_user_gets_one_command_for_runs_and_tests(machine, capsys):
    machine(needed=["bc"], more=["strace"], user=1000)
    assert packages.main() == 2
    assert "recommends bc strace' first" in capsys.readouterr().err


def test_an_ordinary_user_is_told_what_to_run(machine, monkeypatch, capsys):
    machine(needed=["bc"], user=1000)
    monkeypatch.setattr(packages.sys, "argv", ["packages"])
    assert packages.main() == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err == (
        "wblab: missing packages: run 'sudo apt-get install --yes --no-install-recommends bc' first\n"
    )


def test_it_needs_nothing_but_the_standard_library():
    code = "import wblab.lab.packages, sys; print([n for n in sys.modules if n in ('numpy', 'rich', 'matplotlib')])"
    done = subprocess.run([sys.executable, "-S", "-c", code], check=False, cwd=ROOT, capture_output=True, text=True)
    assert done.stdout == "[]\n"
