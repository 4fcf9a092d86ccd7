"""What goes with a program: files, variables, and what it may read; and what comes back from a stranger."""

import os
import subprocess
import tarfile
from pathlib import Path

import pytest

from wblab.core.errors import InputError
from wblab.on.handed import environment, hand_over, prefix_of, reads, tree_of, unshimmed
from wblab.on.made import bring_back, plain
from wblab.on.order import ERR, EXIT, OUT, Frames, Order, frame, read_order


@pytest.fixture
def project(tmp_path):
    place = tmp_path / "project"
    (place / "src").mkdir(parents=True)
    (place / "src" / "a.py").write_text("print(1)\n")
    (place / "secret").symlink_to("/etc/shadow")
    os.mkfifo(place / "pipe")
    return place


def test_files_links_and_directories_go_along_and_a_link_stays_a_link(project, tmp_path):
    tree = tree_of(project, tracked=False, prefix=None)
    assert tree.names == ("secret", "src", "src/a.py")  # no pipe
    (at := tmp_path / "handed").mkdir()
    order = hand_over(Order(argv=("x",), directory=str(project)), tree, b"in", at)
    with tarfile.open(at / order.tree) as archive:
        assert archive.getmember("secret").issym()
        assert {item.uid for item in archive} == {0}
    assert (at / order.stdin).read_bytes() == b"in"
    assert read_order((at / "order.json").read_text()) == order


def test_the_same_files_are_the_same_archive(project, tmp_path):
    names = []
    for name in ("one", "two"):
        (at := tmp_path / name).mkdir()
        tree = tree_of(project, tracked=False, prefix=None)
        hand_over(Order(argv=("x",), directory="/p"), tree, None, at)
        names.append(sorted(os.listdir(at)))
    assert names[0] == names[1]


def test_only_what_git_tracks(project):
    def git(*words):
        subprocess.run(["git", "-C", str(project), *words], check=True, capture_output=True)

    with pytest.raises(InputError, match="is in no git repository"):
        tree_of(project, tracked=True, prefix=None)
    git("init", "-q")
    git("add", "src")
    assert tree_of(project, tracked=True, prefix=None).names == ("src/a.py",)


def test_secrets_in_variables_stay_here():
    own = {"PATH": "/usr/bin", "AWS_SECRET_ACCESS_KEY": "s", "LC_ALL": "C", "HOME": "/home/u", "EDITOR": "vi"}
    found = environment(own, ["EDITOR", "MODE=fast"])
    assert found == {
        "PATH": "/usr/bin", "LC_ALL": "C", "HOME": "/tmp/home", "TMPDIR": "/tmp", "EDITOR": "vi", "MODE": "fast",
    }  # fmt: skip
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


def test_what_the_guest_says_is_read_in_any_pieces_and_nonsense_left_out():
    said = frame(OUT, b"a\nb") + b"\0\xff garbage\n" + b"ono base64!\n" + frame(ERR, b"") + frame(EXIT, b"3")
    for size in (1, 7, len(said)):
        frames = Frames()
        pieces = (said[at : at + size] for at in range(0, len(said), size))
        assert [found for piece in pieces for found in frames.feed(piece)] == [(OUT, b"a\nb"), (ERR, b""), (EXIT, b"3")]
    assert len(Frames._LONGEST * b"x") == Frames._LONGEST


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
    [("../out", tarfile.REGTYPE), ("/etc/x", tarfile.REGTYPE), ("l", tarfile.SYMTYPE), ("link/x", b"0")],
)
def test_where_python_has_no_filters_only_files_within_come_back(name, kind, tmp_path):
    (tmp_path / "link").symlink_to("/")
    member = tarfile.TarInfo(name)
    member.type = kind
    with pytest.raises(tarfile.TarError, match="is no file, or lies outside"):
        plain(member, tmp_path)
    within = plain(tarfile.TarInfo("a/b"), tmp_path)
    assert (within.uid, within.mode) == (os.getuid(), 0o644)
