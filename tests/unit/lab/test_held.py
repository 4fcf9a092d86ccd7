"""A held directory is the one that was opened, whatever its names become."""

import os
from pathlib import Path

import pytest

from wblab.core.errors import InputError
from wblab.lab.held import held, open_below, read_below, replace_file, through


def test_what_is_done_in_a_held_directory_is_done_there(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "other").mkdir()
    with held(tmp_path / "a") as directory:
        (tmp_path / "a").rename(tmp_path / "b")
        (tmp_path / "a").symlink_to("other")
        with replace_file(through(directory) / "file") as file:
            file.write(b"mine")
        with held(through(directory) / "new" / "below", make=True) as below:
            (through(below) / "file").touch()
    assert (tmp_path / "b" / "file").read_bytes() == b"mine"
    assert (tmp_path / "b" / "new" / "below" / "file").exists()
    assert list((tmp_path / "other").iterdir()) == []
    assert len(os.listdir("/proc/self/fd")) < 100


def test_no_link_below_a_held_directory_is_followed(tmp_path):
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "file").write_text("x")
    (tmp_path / "a" / "link").symlink_to("b")
    (tmp_path / "a" / "b" / "link").symlink_to("file")
    with held(tmp_path / "a") as directory:
        assert read_below(directory, Path("b/file"), 1) == b"x"
        for path in ("link/file", "b/link", "../a/b/file", "/etc/passwd", "none"):
            with pytest.raises(OSError, match=r"link|leads out|No such"):
                read_below(directory, Path(path), 1)
        with pytest.raises(OSError, match="not followed"):
            open_below(directory, Path("link"))


def test_messages_name_the_path_that_was_given(tmp_path):
    with pytest.raises(InputError, match=f"^{tmp_path}/x is damaged$"), held(tmp_path) as directory:
        raise InputError(f"{through(directory)}/x is damaged")
    with pytest.raises(FileNotFoundError) as raised, held(tmp_path) as directory:
        (through(directory) / "none" / "x").write_text("x")
    assert raised.value.filename == f"{tmp_path}/none/x"
