"""Untrusted files: only regular ones are read, and nothing is written through an existing name."""

import json
import os
import stat
from pathlib import Path

import pytest

from wblab.core.files import is_file, open_file, parse_json, read_bytes, read_json, replace_file


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"content")
    return path


def test_a_regular_file_is_read(file):
    assert read_bytes(file, 7) == b"content"
    assert is_file(file)


def test_a_file_that_is_too_long_is_refused(file):
    with pytest.raises(OSError, match="longer than 6 B"):
        read_bytes(file, 6)


def link(path, file):
    path.symlink_to(file)


def fifo(path, file):
    os.mkfifo(path)


def directory(path, file):
    path.mkdir()


def device(path, file):
    path.symlink_to("/dev/zero")


@pytest.mark.parametrize("make", [link, fifo, directory, device])
def test_only_regular_files_are_opened(tmp_path, file, make):
    path = tmp_path / "other"
    make(path, file)
    assert not is_file(path)
    with pytest.raises(OSError, match=r"regular file|link|Is a directory"):
        read_bytes(path, 100)


def test_a_file_that_the_user_named_may_be_a_link_but_no_fifo(tmp_path, file):
    link(tmp_path / "link", file)
    assert read_bytes(tmp_path / "link", 100, follow=True) == b"content"
    fifo(tmp_path / "fifo", file)
    link(tmp_path / "to-fifo", tmp_path / "fifo")
    with pytest.raises(OSError, match="not a regular file"):
        open_file(tmp_path / "to-fifo", follow=True)


def test_an_invalid_name_is_refused(tmp_path):
    with pytest.raises(OSError, match="null"):
        read_bytes(tmp_path / "a\0b", 100)
    assert not is_file(tmp_path / "a\0b")


@pytest.mark.parametrize(
    "content",
    [b"NaN", b"[1e999]", b"-Infinity", b"9" * 21, b"9" * 5000, b"18446744073709551616", b'"\\ud800"', b'{"\\udc00": 1}',
     b"[" * 65 + b"]" * 65, b"[" * 100_000, b'{"a":' * 70 + b"1" + b"}" * 70, b"\xff", b"", b"{", b"\0"],
)  # fmt: skip
def test_json_that_the_lab_never_writes_is_refused(content):
    with pytest.raises(ValueError):  # noqa: PT011 - the words are Python's
        parse_json(content)


def test_json_is_read(tmp_path):
    value = {"a": [1, -1, 2**63, 2**64 - 1, 1.5, "ä\U0001f600", None, True, {}]}
    for ascii_ in (True, False):
        (tmp_path / "x.json").write_text(json.dumps(value, ensure_ascii=ascii_))
        assert read_json(tmp_path / "x.json") == value
    assert parse_json(b"[" * 64 + b"]" * 64)


def write(path, content=b"new"):
    with replace_file(path) as stream:
        stream.write(content)


def test_a_file_is_replaced_atomically(tmp_path, file):
    with replace_file(file) as stream:
        stream.write(b"new")
        assert file.read_bytes() == b"content"
    assert file.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["file"]


def test_a_new_file_has_ordinary_permissions(tmp_path):
    (tmp_path / "plain").touch()
    write(tmp_path / "new")
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_link_is_replaced_but_not_its_target(tmp_path, file):
    for name, target in (("link", file), ("dangling", tmp_path / "nowhere"), ("itself", tmp_path / "itself")):
        (tmp_path / name).symlink_to(target)
        write(tmp_path / name)
        assert stat.S_ISREG((tmp_path / name).lstat().st_mode)
        assert (tmp_path / name).read_bytes() == b"new"
    assert file.read_bytes() == b"content"
    assert not (tmp_path / "nowhere").exists()


def test_other_hard_links_keep_their_content(tmp_path, file):
    os.link(file, tmp_path / "second")
    write(tmp_path / "second")
    assert file.read_bytes() == b"content"


@pytest.mark.parametrize("make", [fifo, directory, device])
def test_anything_but_a_file_is_left_alone(tmp_path, file, make):
    make(tmp_path / "other", file)
    before = (tmp_path / "other").lstat()
    with pytest.raises(OSError, match="not a regular file"):
        write(tmp_path / "other")
    assert (tmp_path / "other").lstat().st_ino == before.st_ino


def test_devices_are_never_replaced_even_by_root():
    for path in ("/dev/null", "/dev/stdout"):
        with pytest.raises(OSError, match="not a regular file"):
            write(Path(path))


def test_a_failure_leaves_no_file(tmp_path, file):
    with pytest.raises(TypeError):
        write(file, "no bytes")
    assert file.read_bytes() == b"content"
    assert os.listdir(tmp_path) == ["file"]


def test_a_long_name_gets_a_valid_temporary_name(tmp_path):
    write(tmp_path / ("ä" * 127))
    assert len(os.listdir(tmp_path)) == 1
