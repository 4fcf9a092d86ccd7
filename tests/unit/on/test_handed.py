"""What goes with a program: variables, standard input, and what it may read; and what comes back from a stranger."""

import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from wblab.core.errors import InputError
from wblab.on.handed import PACKAGES, environment, prefix_of, reads, state, unshimmed
from wblab.on.made import _room, bring_back, plain


def test_secrets_in_variables_stay_here():
    own = {"PATH": "/usr/bin", "AWS_SECRET_ACCESS_KEY": "s", "LC_ALL": "C", "HOME": "/home/u", "EDITOR": "vi"}
    found = environment(own, ["EDITOR", "MODE=fast"])
    assert found == {
        "PATH": "/usr/bin",
        "LC_ALL": "C",
        "EDITOR": "vi",
        "MODE": "fast",
        "HOME": "/var/tmp/home",
        "TMPDIR": "/var/tmp",
    }
    with pytest.raises(InputError, match="--env NONE: there is no such variable"):
        environment(own, ["NONE"])


def test_the_environment_of_a_command_is_that_of_its_interpreter(tmp_path):
    venv = tmp_path / "venv"
    (venv / "bin").mkdir(parents=True)
    (venv / "pyvenv.cfg").touch()
    (tool := tmp_path / "tool").write_text(f"#!{venv}/bin/python3\n")
    tool.chmod(0o755)
    assert prefix_of([str(tool)], {"PATH": "/usr/bin"}) == venv
    assert prefix_of(["/bin/sh"], {"PATH": "/usr/bin", "VIRTUAL_ENV": str(venv)}) == venv
    assert prefix_of(["/bin/sh"], {"PATH": "/usr/bin"}) is None


def test_a_stand_in_of_pyenv_is_replaced_by_what_it_stands_for(tmp_path):
    for name, text in (("shims/tool", "exit 1"), ("bin/pyenv", "echo /opt/real/bin/tool")):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)
    assert unshimmed(["tool"], {"PATH": str(tmp_path / "shims")})["PATH"].startswith("/opt/real/bin:")
    assert unshimmed(["sh"], {"PATH": "/bin"}) == {"PATH": "/bin"}


def test_nothing_comes_back_to_outside_of_the_directory(tmp_path):
    run, home = tmp_path / "run", tmp_path / "home"
    (run / "left").mkdir(parents=True)
    home.mkdir()
    (tmp_path / "evil").write_text("x")
    for name, link in (("../evil", ""), ("l", "/etc/passwd"), ("/abs", "")):
        with tarfile.open(run / "left" / "kept.tar", "w") as archive:
            item = tarfile.TarInfo(name)
            if link:
                item.type, item.linkname = tarfile.SYMTYPE, link
            archive.addfile(item)
        try:
            bring_back(run, home)
        except Exception as error:
            assert "cannot bring back" in str(error)  # noqa: PT017
        assert (tmp_path / "evil").read_text() == "x"
        assert not any(path.is_symlink() for path in home.iterdir())


@pytest.mark.parametrize("own", ["/tmp", "/var/tmp"])
def test_an_environment_where_guests_have_a_directory_of_their_own_is_refused(own):
    with pytest.raises(InputError, match=f"a guest has a {own} of its own: put the environment {own}/x/venv elsewhere"):
        reads(["/bin/sh"], {"PATH": "/usr/bin"}, Path(own, "x/venv"), Path("/srv"))


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("../out", tarfile.REGTYPE),
        ("/etc/x", tarfile.REGTYPE),
        ("link/x", tarfile.REGTYPE),
        ("l", tarfile.SYMTYPE),
        ("h", tarfile.LNKTYPE),
        ("p", tarfile.FIFOTYPE),
        ("d", tarfile.CHRTYPE),
        ("huge", tarfile.GNUTYPE_SPARSE),
    ],
)
def test_only_files_within_the_directory_come_back(name, kind, tmp_path):
    (tmp_path / "link").symlink_to("/")
    member = tarfile.TarInfo(name)
    member.type = kind
    member.sparse = [(0, 0)] if kind == tarfile.GNUTYPE_SPARSE else None
    with pytest.raises(tarfile.TarError, match="is no file, or lies outside"):
        plain(member, tmp_path)
    within = plain(tarfile.TarInfo("a/b"), tmp_path)
    assert (within.uid, within.mode) == (os.getuid(), 0o644)


def test_a_pipe_that_stays_open_is_waited_for_and_that_is_said():
    code = "from wblab.on import handed as h; h._PATIENCE_S = 0; print(h.standard_input(print))"
    process = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert "</dev/null gives none" in process.stdout.readline()
    assert process.communicate("word")[0] == "b'word'\n"


def test_what_a_killed_lab_left_is_removed_and_what_a_running_one_has_is_not(tmp_path):
    (tmp_path / ".handed.0123.work" / "handed").mkdir(parents=True)
    with _room(tmp_path) as first, _room(tmp_path) as second:
        assert (first.is_dir(), second.is_dir(), len(os.listdir(tmp_path))) == (True, True, 2)
    assert os.listdir(tmp_path) == []


def test_the_state_of_what_is_granted_changes_with_its_files(tmp_path):
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "file").write_text("a")
    first = state(str(tmp_path))
    assert state(str(tmp_path)) == first != ""
    (tmp_path / "below" / "file").write_text("ab")
    assert state(str(tmp_path)) != first
    assert state(str(tmp_path / "none")) == ""
    assert state(str(tmp_path / "below" / "file")) != ""


def test_packages_of_a_distribution_have_a_state_here():
    assert any(map(state, PACKAGES))
