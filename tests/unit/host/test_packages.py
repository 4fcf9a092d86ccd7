import os
import subprocess
import sys

import pytest

from wblab.core.specfile import ROOT
from wblab.host import packages
from wblab.host.packages import PROGRAMS, install_command, missing_packages


def test_what_is_missing_is_named_by_package(monkeypatch, tmp_path):
    monkeypatch.setattr(packages, "tool_path", lambda name: None if name in ("xz", "bc") else "/bin/true")
    monkeypatch.setattr(packages, "LIBC_HEADER", tmp_path)
    monkeypatch.setattr(packages, "find_spec", lambda name: name)
    assert missing_packages() == ["bc", "xz-utils"]


def test_headers_and_venv_are_looked_for(monkeypatch, tmp_path):
    monkeypatch.setattr(packages, "tool_path", lambda name: "/bin/true")
    monkeypatch.setattr(packages, "LIBC_HEADER", tmp_path / "missing")
    monkeypatch.setattr(packages, "find_spec", lambda name: None)
    assert missing_packages() == ["libc6-dev", "python3-venv"]


def test_a_bare_machine_misses_everything(monkeypatch):
    monkeypatch.setattr(packages, "tool_path", lambda name: None)
    assert set(missing_packages()) >= set(PROGRAMS.values())


@pytest.mark.parametrize(("user", "start"), [(0, ["apt-get"]), (1000, ["sudo", "apt-get"])])
def test_the_command_is_one_to_copy(monkeypatch, user, start):
    monkeypatch.setattr(os, "geteuid", lambda: user)
    command = install_command(["bc", "flex"])
    assert command[: len(start)] == start
    assert command[-2:] == ["bc", "flex"]


def test_nothing_is_done_where_nothing_is_missing(monkeypatch):
    monkeypatch.setattr(packages, "missing_packages", list)
    assert packages.main() == 0


def test_an_ordinary_user_is_told_what_to_run(monkeypatch, capsys):
    monkeypatch.setattr(packages, "missing_packages", lambda: ["bc"])
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert packages.main() == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err == (
        "wblab: missing packages: run 'sudo apt-get install --yes --no-install-recommends bc' first\n"
    )


def test_it_needs_nothing_but_the_standard_library():
    code = "import wblab.host.packages, sys; print([n for n in sys.modules if n in ('numpy', 'rich', 'matplotlib')])"
    done = subprocess.run([sys.executable, "-S", "-c", code], check=False, cwd=ROOT, capture_output=True, text=True)
    assert done.stdout == "[]\n"
