import subprocess
import sys
from pathlib import Path

import pytest

from wblab.lab.distributions import ALL, DEBIAN
from wblab.lab.packages import (
    BROWSERS,
    HEADERS,
    PROGRAMS,
    TEST_PROGRAMS,
    Installed,
    advice_on,
    install,
    missing_packages,
    missing_test_packages,
)
from wblab.lab.places import ROOT

FEDORA, NIXOS, OPENSUSE = (next(one for one in ALL if one.name == name) for name in ("Fedora", "NixOS", "openSUSE"))


def machine_without(*programs, module=lambda name: name, headers=Path("/nowhere"), distribution=DEBIAN):
    """Return a machine that has all programs but these, and all modules."""
    return Installed(lambda name: None if name in programs else "/bin/true", module, headers, distribution)


@pytest.fixture
def headers(tmp_path):
    """A directory with the headers of builds."""
    for name in HEADERS:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    return tmp_path


def test_missing_tools_are_named_by_package(headers):
    assert missing_packages(machine_without("xz", "bc", headers=headers)) == ["bc", "xz-utils"]


def test_headers_and_venv_are_looked_for():
    bare = machine_without(module=lambda name: None)
    assert missing_packages(bare) == ["libc6-dev", "linux-libc-dev", "python3-venv"]


def test_a_bare_machine_misses_everything():
    assert set(missing_packages(machine_without(*PROGRAMS))) >= set(PROGRAMS.values())


def test_headers_are_not_checked_if_they_are_elsewhere():
    assert missing_packages(machine_without(distribution=NIXOS)) == []
    assert missing_test_packages(machine_without(distribution=NIXOS)) == []


def test_tests_do_not_require_packages_that_the_distribution_lacks():
    missing = missing_test_packages(machine_without(distribution=OPENSUSE))
    assert "libtracecmd-dev" not in missing
    assert "libtracefs-dev" in missing


def test_an_unknown_distribution_gets_debian_s_names():
    assert advice_on(None, ["bc", "xz-utils"]) == "install your distribution's packages for Debian's bc xz-utils"


def test_runs_do_not_need_the_packages_of_tests():
    machine = machine_without(*TEST_PROGRAMS)
    assert not set(missing_packages(machine)) & set(TEST_PROGRAMS.values())
    assert set(missing_test_packages(machine)) >= set(TEST_PROGRAMS.values())


def test_any_browser_of_the_kind_will_do():
    assert "chromium" not in missing_test_packages(machine_without("chromium", "chromium-browser"))
    assert "chromium" in missing_test_packages(machine_without(*BROWSERS))


class Commands:
    """Runs the commands of root on Debian, and keeps them. not_there: packages that the distribution does not have."""

    def __init__(self, *not_there):
        self.not_there, self.ran = set(not_there), []

    def __call__(self, command):
        self.ran.append(" ".join(command))
        return 100 if set(command) & self.not_there else 0


@pytest.mark.parametrize("run", [Commands(), None])
def test_nothing_is_installed_if_nothing_is_missing(run):
    assert install([], [], run, "") == 0
    assert run is None or run.ran == []


def test_root_installs_missing_packages():
    run = Commands()
    assert install(["bc", "flex"], ["strace"], run, "") == 0
    assert [command.rpartition("recommends ")[2] for command in run.ran[1:]] == ["bc flex", "strace"]


def test_an_unavailable_package_of_tests_does_not_block_others():
    run = Commands("chromium")
    assert install([], ["chromium", "strace"], run, "") == 0
    assert run.ran[-1].endswith("strace")


def test_an_unavailable_package_of_runs_is_a_failure():
    assert install(["bc"], [], Commands("bc"), "") == 100


def test_missing_packages_of_tests_are_only_a_warning(capsys):
    assert install([], ["strace"], None, advice_on(DEBIAN, ["strace"], user=1000)) == 0
    assert capsys.readouterr().err == (
        "wblab: some tests will be skipped; to run all, run "
        "'sudo apt-get install --yes --no-install-recommends strace' first\n"
    )


def test_the_user_gets_the_command_of_the_distribution(capsys):
    assert install(["bc", "xz-utils"], [], None, advice_on(FEDORA, ["bc", "xz-utils"], user=0)) == 2
    assert capsys.readouterr().err == "wblab: missing packages: run 'dnf install bc xz' first\n"


def test_an_ordinary_user_gets_the_command_to_run(capsys):
    assert install(["bc"], [], None, advice_on(DEBIAN, ["bc"], user=1000)) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err == (
        "wblab: missing packages: run 'sudo apt-get install --yes --no-install-recommends bc' first\n"
    )


def test_the_module_needs_only_the_standard_library():
    code = "import wblab.lab.packages, sys; print([n for n in sys.modules if n in ('numpy', 'rich', 'matplotlib')])"
    done = subprocess.run([sys.executable, "-S", "-c", code], check=False, cwd=ROOT, capture_output=True, text=True)
    assert done.stdout == "[]\n"
