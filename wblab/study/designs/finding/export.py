"""A finding as a directory for the kernel's mailing lists: mail, reproducer, tables, trace and patches.

It follows Documentation/process of Linux: submitting-patches, researcher-guidelines, coding-assistants. Nothing is
signed, and nothing is sent.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path

from wblab import __version__
from wblab.core.errors import InputError
from wblab.lab.places import FINDINGS
from wblab.study.designs.finding import kept
from wblab.study.designs.finding.excerpt import FILE as TRACE
from wblab.study.designs.finding.fill import filled
from wblab.study.designs.finding.finding import Finding, read
from wblab.study.designs.finding.patchmail import patch_mails, wrapped
from wblab.study.designs.finding.words import plain

MAIL, README = "mail.txt", "README.txt"
_REPRODUCE, _EFFECT = "reproduce", "patch.txt"
_SCRIPTS = {
    "reproduce.sh": "shows it on a machine with this kernel, as root",
    "in-qemu.sh": "runs reproduce.sh on a kernel in QEMU, as anyone",
    "common.sh": "what scripts of several findings share",
    "writer.c": "the program that is stalled",
}
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
