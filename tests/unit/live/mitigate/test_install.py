"""As root, the daemon runs nothing that others can change."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import wblab
from wblab.core.errors import InputError, WblabError
from wblab.live.changes.journal import changing
from wblab.live.changes.permitted import MITIGATE
from wblab.live.mitigate.service import check_install
from wblab.machine.changes import MadeGroup

NOBODY = 65534


@pytest.fixture(autouse=True)
def as_root(monkeypatch):
    if os.geteuid():
        pytest.skip("only root has what is checked here: run the tests as root")


@pytest.fixture
def code(tmp_path):
    """Files in place of the code."""
    (tmp_path / "lab").mkdir()
    (tmp_path / "lab" / "module.py").touch()
    return tmp_path / "lab"


def test_a_root_owned_installation_runs(code, tmp_path):
    check_install(tmp_path / "none.toml", [code, code / "module.py"])
    (tmp_path / "mitigate.toml").touch()
    check_install(tmp_path / "mitigate.toml", [code, code / "module.py"])


@pytest.mark.parametrize(
    "spoil",
    [
        lambda code: os.chown(code, NOBODY, NOBODY),
        lambda code: os.chown(code / "module.py", NOBODY, -1),
        lambda code: os.chown(code.parent, NOBODY, -1),
        lambda code: (code / "module.py").chmod(0o666),
        lambda code: code.chmod(0o777),
        lambda code: code.chmod(0o1777),
        lambda code: (os.chown(code, -1, NOBODY), code.chmod(0o775)),
    ],
)
def test_an_installation_writable_by_others_is_refused(code, tmp_path, spoil):
    spoil(code)
    with pytest.raises(InputError, match=r"root must not run a daemon that others can change: \S") as error:
        check_install(tmp_path / "none.toml", [code, code / "module.py"])
    assert "\n" not in str(error.value)


def test_a_configuration_writable_by_others_is_refused(code, tmp_path):
    (config := tmp_path / "mitigate.toml").touch()
    os.chown(config, NOBODY, -1)
    with pytest.raises(InputError, match="must not use a configuration that others can change"):
        check_install(config, [code, code / "module.py"])
    (link := tmp_path / "link").symlink_to(config)
    with pytest.raises(InputError, match=f"mitigate.toml belongs to user {NOBODY}"):
        check_install(link)


def test_a_lab_owned_by_another_user_is_refused(tmp_path):
    (tmp_path / "wblab").symlink_to(Path(wblab.__file__).parent)
    os.lchown(tmp_path / "wblab", NOBODY, NOBODY)
    done = subprocess.run(
        [sys.executable, "-m", "wblab", "mitigate", "--restore"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("wblab: root must not run a daemon that others can change: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o770])
def test_the_state_directory_is_writable_only_by_root(tmp_path, mode):
    (state := tmp_path / "state").mkdir()
    os.chown(state, -1, NOBODY)
    state.chmod(mode)
    with pytest.raises(WblabError, match="other users than its owner may write to"), changing(MITIGATE, state):
        pass
    assert os.listdir(state) == []


def test_state_files_are_readable_only_by_root(tmp_path, monkeypatch):
    umask = os.umask(0o022)
    try:
        with changing(MITIGATE, tmp_path / "run" / "wblab") as journal:
            journal.note(MadeGroup(path="/sys/fs/cgroup/wblab-mitigate"))
            modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.rglob("*")}
    finally:
        os.umask(umask)
    assert modes == {"run": 0o700, "wblab": 0o700, "mitigate.lock": 0o600, "mitigate.json": 0o600}


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: os.symlink("/etc/passwd", path)])
def test_a_lock_that_is_not_a_file_is_reported_on_one_line(tmp_path, make):
    make(tmp_path / "mitigate.lock")
    before = Path("/etc/passwd").stat().st_mtime_ns
    with pytest.raises(WblabError, match="cannot use the directory"), changing(MITIGATE, tmp_path):
        pass
    assert Path("/etc/passwd").stat().st_mtime_ns == before
