"""Anything on the path to a file that others may change is found."""

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from wblab.cli import main
from wblab.core.errors import InputError
from wblab.lab import places
from wblab.lab.held import held
from wblab.machine import trust
from wblab.machine.trust import (
    FileProtections,
    distrust,
    distrust_any,
    distrust_found,
    distrust_new,
    has_own_group,
    is_alone_in,
    objection,
    ourselves,
)


@pytest.fixture
def place(tmp_path):
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a/b/file").touch()
    (tmp_path / "link").symlink_to("a/../a/b")
    return tmp_path


def test_paths_that_only_the_user_and_root_can_change_are_trusted(place):
    for path in (place / "a/b/file", place / "link/file", place / "a/b/../b"):
        assert distrust(path) == ""
    assert distrust_any([place / "link", place / "a/b/file", place / "link/file"]) == ""


@pytest.mark.parametrize("spoilt", ["a", "a/b", "a/b/file"])
@pytest.mark.parametrize("path", ["a/b/file", "link/file"])
def test_a_directory_writable_by_others_is_found_anywhere_on_the_path(place, path, spoilt):
    (place / spoilt).chmod(0o777)
    assert distrust(place / path) == f"other users than its owner may write to {place / spoilt}"
    assert distrust_any([place, place / path])


def test_a_foreign_owner_is_found(place):
    def foreign(path):
        status = list(os.lstat(path))
        status[4] = 12345 if str(path).endswith("/link") else status[4]
        return os.stat_result(status)

    assert (
        distrust(place / "link/file", kernel=FileProtections(status=foreign)) == f"{place}/link belongs to user 12345"
    )


def test_sticky_directories_are_trusted_only_on_the_way(place):
    (place / "a").chmod(0o1777)
    assert distrust(place / "a/b/file") == ""
    assert distrust(place / "a") != ""
    assert distrust_any([place / "a/b"]) == ""
    assert distrust_any([place / "a"]) != ""


@pytest.mark.parametrize(("protections", "trusted"), [("11", True), ("01", False), ("10", False)])
def test_a_sticky_directory_is_trusted_if_the_kernel_protects_links(place, tmp_path, protections, trusted):
    files = [tmp_path / f"protected_{number}" for number in range(2)]
    for file, value in zip(files, protections, strict=True):
        file.write_text(f"{value}\n")
    (place / "a").chmod(0o1777)
    assert (distrust(place / "a", sticky=True, kernel=FileProtections(files)) == "") is trusted


@pytest.mark.parametrize(
    ("options", "trusted"),
    [
        ("ro,nosuid - ext4 /dev/sda ro", True),
        ("ro - ext4 /dev/sda rw", False),
        ("ro - fuse.sshfs x ro,user_id=1", False),
    ],
)
def test_read_only_filesystems_are_trusted_with_any_owner(place, tmp_path, options, trusted):
    device = os.stat(place).st_dev
    (mounts := tmp_path / "mountinfo").write_text(
        f"20 1 0:99 / /elsewhere rw - tmpfs tmpfs rw\n21 1 {os.major(device)}:{os.minor(device)} / / {options}\n"
    )
    (place / "a").chmod(0o777)
    assert (distrust(place / "a/b", kernel=FileProtections(mounts=mounts)) == "") is trusted


def test_what_is_found_here_is_ours(place, monkeypatch):
    monkeypatch.chdir(place)
    for name in ("none", "a", "link"):
        trust.check_found(Path(name), "name it")
    (place / "a" / "b").chmod(0o777)
    trust.check_found(Path("a"), "name it")
    for name in ("a/b", "link"):
        with pytest.raises(InputError, match=f"other users may write to {place}/a/b: it was found here, and not named"):
            trust.check_found(Path(name), "name it")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a link to another user: run the tests as root")
def test_a_link_of_another_user_is_not_ours(place, monkeypatch):
    monkeypatch.chdir(place)
    os.lchown("link", 65534, 65534)
    with pytest.raises(InputError, match="link is a link"):
        trust.check_found(Path("link"), "name it")


def test_results_and_settings_that_were_found_are_ours(place, monkeypatch, capsys):
    monkeypatch.chdir(place)
    monkeypatch.setattr(places, "RESULTS", Path("a"))
    (place / "a").chmod(0o777)
    assert main(["runs"]) == 2
    assert "name it: --exp a" in capsys.readouterr().err
    assert main(["runs", "--exp", "a"]) == 0
    (place / "a").chmod(0o755)
    assert main(["runs"]) == 0
    (place / "matplotlibrc").write_text("text.usetex: True\n")
    assert main(["runs"]) == 0
    (place / "matplotlibrc").chmod(0o666)
    capsys.readouterr()
    assert main(["runs"]) == 2
    assert "matplotlibrc: it was found here" in capsys.readouterr().err


def test_missing_paths_and_circular_links_are_errors(place):
    with pytest.raises(FileNotFoundError):
        distrust(place / "none" / "file")
    (place / "x").symlink_to("y")
    (place / "y").symlink_to("x")
    with pytest.raises(OSError, match="symbolic links"):
        distrust(place / "x")


def test_for_a_new_path_the_existing_parents_count(place):
    kernel = FileProtections([place / "protected"])
    (place / "protected").write_text("1\n")
    assert distrust_new(place / "a/b", kernel) == distrust_new(place / "a/b/c/d", kernel) == ""
    (place / "a").chmod(0o1777)
    assert distrust_new(place / "a/new/c", kernel) == ""  # others cannot exchange our files there, as in /tmp
    assert distrust_new(place / "a", kernel) != ""
    (place / "protected").write_text("0\n")  # otherwise a link that somebody made first is followed
    assert distrust_new(place / "a/new/c", kernel) == f"other users than its owner may write to {place / 'a'}"
    (place / "a").chmod(0o777)
    assert distrust_new(place / "a/new", kernel) == f"other users than its owner may write to {place / 'a'}"
    assert distrust_new(place / "link/new", kernel) == f"other users than its owner may write to {place / 'a'}"
    (place / "nowhere").symlink_to("nothing")
    with pytest.raises(FileNotFoundError):
        distrust_new(place / "nowhere/new", kernel)


@pytest.mark.parametrize(
    ("owner", "caller", "trusted"), [("ours", "", True), ("root", "", True), ("other", "", False), ("other", "7", True)]
)
def test_what_was_found_is_ours_roots_or_of_who_called_sudo(place, owner, caller, trusted):
    uid = {"ours": 1000, "root": 0, "other": 7}[owner]
    status = os.stat(place / "a")
    found = os.stat_result([*status[:4], uid, *status[5:]])
    us = ourselves(user=0 if caller else 1000, caller=caller)
    assert (objection(found, place, us, lambda user, group: False) == "") is trusted


@pytest.mark.parametrize(
    ("mode", "group", "trusted"),
    [
        (0o755, 5000, True),
        (0o1777, 0, True),
        (0o777, 0, False),
        (0o775, 0, True),
        (0o775, 1000, True),
        (0o775, 100, False),
        (0o775, 5000, False),
    ],
    ids=["closed", "sticky", "open", "root's group", "a group of one's own", "the users' group", "a shared group"],
)
def test_a_group_of_one_s_own_may_write_to_what_was_found(place, mode, group, trusted):
    users = [("ada", 1000, 1000), ("bob", 1001, 1001), ("cleo", 1002, 100), ("dan", 1003, 100)]
    accounts = {uid: SimpleNamespace(pw_name=name, pw_uid=uid, pw_gid=gid) for name, uid, gid in users}
    members = {1000: [], 100: [], 5000: ["ada", "bob"]}

    def is_alone(user, group):
        return has_own_group(accounts[user], group, accounts.values(), members[group])

    status = os.stat(place / "a")
    found = os.stat_result([(status[0] & ~0o7777) | mode, *status[1:4], 1000, group, *status[6:]])
    assert (objection(found, place, {0, 1000}, is_alone) == "") is trusted
    assert not is_alone_in(4_000_000_000, group)


def test_the_open_directory_of_another_is_not_ours(place):
    with held(place / "a") as directory:
        assert distrust_found(directory) == ""
        (place / "a").chmod(0o777)
        assert distrust_found(directory) == f"other users may write to {place / 'a'}"
