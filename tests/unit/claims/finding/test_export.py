"""An export is what a kernel maintainer can read and apply: plain text of 72 columns, and patches for git am."""

import shutil
import subprocess

import pytest

from wblab.claims.finding.export import MAIL, README, check_exported, export, patch_mails, wrapped
from wblab.claims.finding.finding import find, names
from wblab.core.errors import InputError
from wblab.kernels.mailbox import read_patches
from wblab.lab.places import FINDINGS, LINUX_UML

MAILED = [name for name in names() if (FINDINGS / name / MAIL).is_file()]


@pytest.fixture(params=MAILED)
def exported(request, tmp_path):
    return tmp_path, export(request.param, tmp_path)


def test_every_file_is_named_and_there(exported):
    directory, about = exported
    assert all((directory / name).is_file() for name in about)
    listed = (directory / README).read_text()
    assert all(name in listed for name in about if name != README)
    assert {str(file.relative_to(directory)) for file in directory.rglob("*") if file.is_file()} >= set(about)


def test_texts_have_72_columns_and_no_hole(exported):
    directory, _ = exported
    for name in (MAIL, README, "tables.txt"):
        text = (directory / name).read_text()
        assert max(map(len, text.splitlines())) <= 72, name
        assert "{" not in text
    assert "–" not in (directory / MAIL).read_text(), "a figure of the mail was not measured"


def test_patches_are_what_git_reads_and_nobody_has_signed_them(exported):
    directory, about = exported
    patches = [directory / name for name in about if name.startswith("patches/")]
    for path in patches:
        text = path.read_text()
        assert "Signed-off-by" not in text
        (patch,) = read_patches(path)
        mailed = subprocess.run(
            ["git", "mailinfo", directory / "message", directory / "diff"],
            input=text.encode(),
            capture_output=True,
            check=True,
        )
        assert f"Subject: {patch.subject}" in mailed.stdout.decode()
        assert (directory / "message").read_text().count("\n") > 3


def test_a_patch_changes_what_the_variant_changes(tmp_path):
    for series, text in patch_mails("flush-at-limit", ['0123456789ab ("x: y")'], "It was measured."):
        path = tmp_path / f"{series}.patch"
        path.write_text(text)
        (exported,), (variant,) = (
            read_patches(path),
            read_patches(LINUX_UML / "variants" / "flush-at-limit" / f"{series}.patch"),
        )
        assert exported.changes == variant.changes
        assert 'Fixes: 0123456789ab ("x: y")\n---\n' in text
        assert "docs/findings" not in text.split("\n---\n")[0]


def test_an_unknown_variant_has_no_patches():
    with pytest.raises(InputError, match="no patch of a variant 'none'"):
        list(patch_mails("none", [], ""))


def test_a_finding_without_a_mail_is_not_exported(tmp_path):
    source = tmp_path / "one"
    shutil.copytree(find(MAILED[0]), source)
    (source / MAIL).unlink()
    with pytest.raises(InputError, match="'one' is not for a kernel mailing list"):
        check_exported(source)


def test_a_finding_without_figures_is_not_exported(tmp_path):
    source = tmp_path / "one"
    shutil.copytree(find(MAILED[0]), source)
    (source / "figures.json").unlink(missing_ok=True)
    with pytest.raises(InputError, match="has no figures"):
        check_exported(source)


def test_wrapping_keeps_heads_and_tables():
    text = f"Subject: {'long ' * 20}\n\n{'word ' * 20}\n\n    a table {'x' * 80}\n- {'item ' * 20}"
    lines = wrapped(text).splitlines()
    assert lines[0] == f"Subject: {'long ' * 20}"
    assert any(line.startswith("    a table x") for line in lines)
    assert lines[-1].startswith("  item")
