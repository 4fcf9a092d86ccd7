"""A finding as a directory for the kernel's mailing lists: mail, reproducer, tables, trace and patches.

It follows Documentation/process of Linux: submitting-patches, researcher-guidelines, coding-assistants. Nothing is
signed, and nothing is sent.
"""

import re
import shutil
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path

from wblab import __version__
from wblab.claims.finding import kept
from wblab.claims.finding.excerpt import FILE as TRACE
from wblab.claims.finding.fill import filled
from wblab.claims.finding.finding import Finding, read
from wblab.claims.finding.words import WIDTH, plain
from wblab.core.errors import InputError
from wblab.kernels import catalog
from wblab.lab.places import FINDINGS

# A variant of the lab's kernels as patches for a mailing list, in the form of git format-patch(1).

_NOBODY = "From 0000000000000000000000000000000000000000 Mon Sep 17 00:00:00 2001"
_PARTS = re.compile(r"Subject: \[PATCH\] (?P<subject>[^\n]+)\n\n(?P<body>.*?)\n+---\n(?P<rest>.*)", re.DOTALL)
_OWN = ("A proposal:", "Not meant for")  # paragraphs for readers of the lab


def patch_mails(variant: str, fixes: Sequence[str], effect: str) -> Iterator[tuple[str, str]]:
    """Yield the series and the mail of each form of a variant, the newest series first.

    fixes: commits, as `Fixes:` names them. effect: a paragraph on what was measured. Nobody has signed it. Raises
    InputError if there is no patch of that name.
    """
    folder = catalog.load().folder / "variants" / variant
    files = [file for file in folder.glob("*.patch") if file.stat().st_size]
    if not files:
        raise InputError(f"no patch of a variant {variant!r}")
    newest_first = sorted(files, key=lambda file: [int(part) for part in file.stem.split(".")], reverse=True)
    for file in newest_first:
        mark = "PATCH" if file == newest_first[0] else f"PATCH {file.stem}"
        yield file.stem, _mail(file.read_text(), mark, fixes, effect)


def _mail(text: str, mark: str, fixes: Sequence[str], effect: str) -> str:
    parts = _PARTS.fullmatch(text)
    if parts is None:
        raise InputError(f"the patch {text[:40]!r} has no subject, text and --- line")
    paragraphs = [each for each in parts["body"].split("\n\n") if not each.startswith(_OWN)]
    body = "\n\n".join(
        [*paragraphs, *filter(None, [effect]), *filter(None, ["\n".join(map("Fixes: {}".format, fixes))])]
    )
    head = f"{_NOBODY}\nFrom: Your Name <you@example.org>\nSubject: [{mark}] {parts['subject']}\n"
    return f"{head}\n{body}\n---\n{parts['rest'].rstrip()}\n-- \nwblab {__version__}\n"


def wrapped(text: str) -> str:
    """Return a text for a mail: paragraphs are wrapped at 72 columns; heads and indented lines stay as they are."""
    return "\n".join(map(_wrapped, text.split("\n")))


def _wrapped(line: str) -> str:
    if not line or line.startswith((" ", "Subject:")):
        return line
    indent = "  " if line.startswith("- ") else ""
    return textwrap.fill(line, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


MAIL, README = "mail.txt", "README.txt"
_REPRODUCE, _EFFECT = "reproduce", "patch.txt"
_SCRIPTS = {
    "reproduce.sh": "shows it on a machine with this kernel, as root",
    "in-qemu.sh": "runs reproduce.sh on a kernel in QEMU, as anyone",
    "build-kernel.sh": "builds a small kernel for in-qemu.sh",
    "in-qemu.config": "the options of that kernel",
    "common.sh": "what scripts of several findings share",
    "writer.c": "the program that is stalled",
}
_SELFTEST = "selftest.sh"
_TABLES = "{% for name, each in table.items() %}{{ name }}\n\n{{ each }}\n\n{% endfor %}"


def check_exported(source: Path) -> None:
    """Raise InputError if the finding in a directory is not for a kernel mailing list."""
    if not (source / MAIL).is_file():
        raise InputError(
            f"the finding {source.name!r} is not for a kernel mailing list: wblab finding show {source.name}"
        )
    if not kept.read(source):
        raise InputError(f"the finding {source.name!r} has no figures: wblab study {source.name} --update")


def export(name: str, directory: Path) -> dict[str, str]:
    """Write a finding into an empty directory; return what each file is, by its name. Raises InputError, OSError."""
    source = FINDINGS / name
    about = {MAIL: "the mail, in plain text of 72 columns"} | dict(_write(source, read(source), directory))
    (directory / MAIL).write_text(wrapped(_filled(source / MAIL, source, version=__version__)))
    width = max(map(len, about)) + 2
    files = [(file.ljust(width), what) for file, what in about.items()]
    values = {"version": __version__, "name": name, "files": files}
    (directory / README).write_text(wrapped(_filled(source.parent / README, source, **values)))
    return {README: "read this first"} | about


def _write(source: Path, finding: Finding, directory: Path) -> Iterator[tuple[str, str]]:
    """Write all that the mail refers to; yield each file's name and what it is."""
    scripts = {file.name: file for folder in (source.parent, source) for file in (folder / _REPRODUCE).glob("*")}
    for name, about in _SCRIPTS.items():
        shutil.copy(scripts[name], directory / name)
        yield name, about
    if (source / _SELFTEST).is_file():
        shutil.copy(source / _SELFTEST, directory / _SELFTEST)
        yield _SELFTEST, "the same as a kselftest, in TAP"
    (directory / "tables.txt").write_text(filled(source, _TABLES, plain))
    yield "tables.txt", "all figures"
    if (source / TRACE).is_file():
        shutil.copy(source / TRACE, directory / TRACE)
        yield TRACE, "what the kernel did in one such pause"
    if finding.proposal:
        effect = wrapped(_filled(source / _EFFECT, source)).strip() if (source / _EFFECT).is_file() else ""
        for series, text in patch_mails(finding.proposal, finding.fixes, effect):
            path = Path("patches", f"{series}.patch")
            (directory / path.parent).mkdir(exist_ok=True)
            (directory / path).write_text(text)
            yield str(path), f"the change for Linux {series}"


def _filled(template: Path, source: Path, **values: object) -> str:
    return filled(source, template.read_text(), plain, **values)


def _files(folder: Path) -> list[Path]:
    return [file for file in folder.glob("*") if file.is_file()]
