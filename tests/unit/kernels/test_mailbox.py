"""Patches of the user: read as git am reads them, and tried before anything is built."""

import base64
import subprocess
import time

import pytest
from support.patchtexts import PATCH, SECOND

from wblab.core.errors import InputError
from wblab.kernels import catalog
from wblab.kernels.mailbox import changes, read_patches, touched
from wblab.kernels.patched import base
from wblab.lab.progress import silent

HEAD = "From {number:040x} Mon Sep 17 00:00:00 2001\nFrom: Ann <ann@localhost>\nDate: Mon, 1 Jan 2024 10:00:00 +0000\n"


def message(number, subject, body, further=""):
    return f"{HEAD.format(number=number)}Subject: {subject}\n{further}\n{body}-- \n2.47.0\n\n"


def mailbox(*diffs):
    cover = message(9, "[PATCH 0/2] greetings", "Two patches.\nFrom here on it is text.\n hello.c | 2 +-\n")
    numbered = enumerate(diffs, 1)
    return cover + "".join(message(n, f"[PATCH v2 {n}/2] hello: say {n}", f"Why.\n---\n{diff}") for n, diff in numbered)


def test_a_mailbox_holds_its_patches_in_order_without_the_cover_letter(tmp_path):
    (tmp_path / "series.mbox").write_text(mailbox(PATCH, SECOND))
    found = read_patches(tmp_path / "series.mbox")
    assert [item.subject for item in found] == ["hello: say 1", "hello: say 2"]
    assert [item.patch.name for item in found] == ["given-0001-hello-say-1.patch", "given-0002-hello-say-2.patch"]
    assert [item.changes for item in found] == [{"hello.c": (1, 1)}] * 2


def test_a_quoted_diff_in_a_reply_is_no_patch(tmp_path):
    reply = message(3, "Re: [PATCH] hello", "".join(f"> {line}\n" for line in PATCH.splitlines()))
    (tmp_path / "thread.mbox").write_text(mailbox(PATCH) + reply)
    assert len(read_patches(tmp_path / "thread.mbox")) == 1


def test_a_directory_is_read_by_name_or_in_the_order_of_its_series_file(tmp_path):
    (tmp_path / "0002-b.patch").write_text(SECOND)
    (tmp_path / "0001-a.patch").write_text(PATCH)
    (tmp_path / "notes.txt").write_text("no patch")
    assert [item.subject for item in read_patches(tmp_path)] == ["0001-a", "0002-b"]
    (tmp_path / "series").write_text("0002-b.patch  # first\n\n0001-a.patch\n")
    assert [item.subject for item in read_patches(tmp_path)] == ["0002-b", "0001-a"]


def test_an_encoded_mail_is_decoded(tmp_path):
    encoded = base64.encodebytes(PATCH.encode()).decode()
    further = "Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: base64\n"
    text = f"{HEAD.format(number=1)}Subject: =?utf-8?q?[PATCH]_hell=C3=B6?=\n{further}\n{encoded}\n"
    (tmp_path / "one.eml").write_text(text)
    (found,) = read_patches(tmp_path / "one.eml")
    assert found.subject == "hellö"
    assert PATCH.encode() in found.patch.data


def test_what_holds_no_patch_is_refused(tmp_path):
    with pytest.raises(InputError, match="holds no patch"):
        read_patches(tmp_path)
    (tmp_path / "empty.mbox").write_text(mailbox())
    with pytest.raises(InputError, match="holds no patch"):
        read_patches(tmp_path / "empty.mbox")


@pytest.mark.parametrize(
    "line", ["From a " + "00:00 " * 400_000, "Subject: " + "=?" * 400_000, "From a 00:00 " + "0" * 2_000_000]
)
def test_a_long_line_takes_no_long_time(tmp_path, line):
    (tmp_path / "a.mbox").write_text(
        f"From a Mon Sep 17 00:00:00 2001\n{line}\n\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"
    )
    before_s = time.process_time()
    assert len(read_patches(tmp_path / "a.mbox")) == 1
    assert time.process_time() - before_s < 10  # 48 kB took 2 s, and each doubling four times as long


def test_only_hunks_count_as_changes():
    diff = f"{PATCH}@@ -9,2 +9,1 @@\n one\n--- two\n-- \n2.47.0\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"
    assert changes(diff.encode()) == {"hello.c": (1, 2), "gone": (0, 1)}
    assert touched(diff.encode()) == {"hello.c", "gone"}


def test_git_writes_what_is_read(tmp_path):
    def git(*arguments):
        identity = ("-c", "user.name=Ann", "-c", "user.email=ann@localhost")
        return subprocess.run(["git", "-C", str(tmp_path), *identity, *arguments], check=True, capture_output=True)

    git("init", "--quiet")
    for number in (1, 2, 3):
        (tmp_path / "file").write_text(f"{number}\n")
        git("add", ".")
        git("commit", "--quiet", "-m", f"change {number}\n\nFrom here on: a body.")
    (tmp_path / "all.mbox").write_bytes(git("format-patch", "--stdout", "--cover-letter", "HEAD~2").stdout)
    git("format-patch", "--quiet", "--cover-letter", "-o", "out", "HEAD~2")
    mbox, folder = read_patches(tmp_path / "all.mbox"), read_patches(tmp_path / "out")
    assert [item.subject for item in mbox] == [item.subject for item in folder] == ["change 2", "change 3"]
    assert [item.patch.name for item in mbox] == [item.patch.name for item in folder]


def test_a_patch_that_does_not_apply_is_named_with_file_and_hunk(tree, tmp_path):
    (tmp_path / "good.patch").write_text(PATCH)
    (tmp_path / "bad.patch").write_text(SECOND.replace("return 1", "return 7"))
    source = base(str(tree), silent)
    source.check(read_patches(tmp_path / "good.patch"))
    both = (*read_patches(tmp_path / "good.patch"), *read_patches(tmp_path / "bad.patch"))
    with pytest.raises(InputError) as caught:
        source.check(both)
    said = str(caught.value)
    assert "\n" not in said
    assert all(words in said for words in ("bad.patch does not apply", "hunk 1 of hello.c (line 1)"))
    assert (tree / "hello.c").read_text() == "int main(void)\n{ return 0; }\n/* end */\n"


def test_a_patch_of_a_missing_file_is_named(tree, tmp_path):
    (tmp_path / "bad.patch").write_text(PATCH.replace("hello.c", "fs/none.c"))
    with pytest.raises(InputError, match=r"bad.patch does not apply to .*: there is no fs/none.c"):
        base(str(tree), silent).check(read_patches(tmp_path / "bad.patch"))


@pytest.mark.usefixtures("tools")
def test_a_patch_in_the_way_of_the_labs_is_told_before_a_build(tmp_path):
    (tmp_path / "mine.patch").write_text(PATCH.replace("return 1", "return 7"))
    with pytest.raises(InputError, match=r"the lab's patch 0001-hello.patch does not apply .* given patches"):
        base("7.3", silent).check(read_patches(tmp_path / "mine.patch"))


def test_a_built_kernel_cannot_be_patched(tmp_path):
    (tmp_path / "linux").write_bytes(b"\x7fELF")
    with pytest.raises(InputError, match="cannot be patched"):
        base(str(tmp_path / "linux"), silent)


@pytest.mark.usefixtures("tools")
@pytest.mark.parametrize("of_tree", [False, True])
def test_patches_of_the_user_come_before_the_labs(tree, tmp_path, of_tree):
    """The lab's patch of the small catalog makes 0 a 1, so the user's must leave it the 0."""
    (tmp_path / "mine.patch").write_text(PATCH.replace("{ return 1; }", "{ return 0; } /* ours */"))
    series = PATCH.replace("-{ return 0; }", "-{ return 0; } /* ours */")
    catalog.load().patches("7.3")[0].path.write_text(series)
    source = base(str(tree) if of_tree else "7.3", silent)
    given = read_patches(tmp_path / "mine.patch")
    source.check(given)
    built = source.build(given, silent, print)
    assert "return 1" in built.path.read_text()
    assert built.patches == ("given-0001-mine.patch", "0001-hello.patch")
    assert source.build(given, silent, print) == built
