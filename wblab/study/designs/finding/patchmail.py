"""A variant of the lab's kernels as patches for a mailing list, in the form of git format-patch(1)."""

import re
import textwrap
from collections.abc import Iterator, Sequence

from wblab import __version__
from wblab.core.errors import InputError
from wblab.kernels import catalog
from wblab.study.designs.finding.words import WIDTH

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
