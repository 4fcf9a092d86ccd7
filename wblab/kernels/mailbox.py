"""Patches of the user: a file of one patch, a mailbox of many, or a directory of such files.

They are read as git am(1) reads them: messages in order, decoded; those without a diff, such as cover letters and
replies, are passed over.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from wblab.core.errors import InputError
from wblab.core.files import read_bytes
from wblab.kernels.patches import Patch, is_inside

if TYPE_CHECKING:
    from email.message import Message

SUFFIXES = (".patch", ".diff", ".mbox", ".mbx", ".eml")
_MOST_BYTES = 64 << 20
# How a message begins in a mailbox, in a line that is not long: git mailsplit looks for the same, so a body's "From
# here on" begins none.
_BEGINS = re.compile(rb"^From [^\n]{1,400}$", re.MULTILINE)
_BEGINS_WITH = re.compile(rb"From \S+ .*\d\d:\d\d(?::\d\d)? .*\d{4}.*\r?")
_HUNK = re.compile(rb"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_HAS_DIFF = re.compile(rb"^--- \S.*\n\+\+\+ \S", re.MULTILINE)
_TAGS = re.compile(r"^(?:\s*(?:\[[^\]]*\]|(?i:re|fwd):))*\s*")  # [PATCH v2 1/3], as git am drops it
_MOST_SUBJECT = 4000  # letters that are read: an encoded one of many parts takes its time
_LONGEST_NAME = 52  # letters of a subject in a name, as git format-patch has it


@dataclass(frozen=True)
class UserPatch:
    """A patch of the user. changes: the lines that it adds and removes, by file."""

    patch: Patch
    subject: str
    changes: dict[str, tuple[int, int]]


def read_patches(path: Path) -> tuple[UserPatch, ...]:
    """Return the patches in a file or a directory, in order. Raises InputError if there are none."""
    files = _files(path) if path.is_dir() else [path]
    found = [message for file in files for message in _messages(file)]
    made = [_patch(number, *message) for number, message in enumerate(found, 1)]
    if not made:
        raise InputError(f"{path} holds no patch: give a file or a directory of 'git format-patch', or a mailbox")
    return tuple(made)


def _files(folder: Path) -> list[Path]:
    """Return a directory's files of patches: in the order of its series file if it has one (quilt), else by name."""
    try:
        if (folder / "series").is_file():
            lines = (re.sub(r"(^|\s)#.*", "", line).split() for line in (folder / "series").read_text().splitlines())
            return [folder / words[0] for words in lines if words]
        return sorted(file for file in folder.iterdir() if file.suffix in SUFFIXES and file.is_file())
    except OSError as error:
        raise InputError(f"cannot read {folder}: {error.strerror}") from None


def _messages(path: Path) -> "Iterator[tuple[Path, Message, bytes]]":
    """Yield the messages of a file that hold a diff and their decoded text."""
    from email import message_from_bytes  # not for each command

    try:
        content = read_bytes(path, _MOST_BYTES, follow=True)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from None
    starts = [match.start() for match in _BEGINS.finditer(content) if _BEGINS_WITH.fullmatch(match[0])]
    for start, end in zip([0, *starts], [*starts, len(content)], strict=True):
        message = message_from_bytes(content[start:end])
        text = _text(message, content[start:end])
        if _HAS_DIFF.search(text):
            yield path, message, text


def _text(message: "Message", whole: bytes) -> bytes:
    """Return the decoded text of a message: of its parts that are text; of a bare diff, all of it."""
    if message["Subject"] is None:
        return whole.replace(b"\r\n", b"\n")
    parts = [part.get_payload(decode=True) for part in message.walk() if part.get_content_maintype() == "text"]
    return b"\n".join(part for part in parts if isinstance(part, bytes)).replace(b"\r\n", b"\n")


def _patch(number: int, path: Path, message: "Message", text: bytes) -> UserPatch:
    subject = _subject(message) or path.stem
    words = re.sub(r"[^A-Za-z0-9_.]+", "-", subject).strip("-.")[:_LONGEST_NAME].rstrip("-.")
    return UserPatch(Patch(f"given-{number:04}-{words}.patch", path, text), subject, changes(text))


def _subject(message: "Message") -> str:
    """Return what a message is about, in one line without its tags; empty if it has no subject."""
    from email.header import decode_header, make_header

    if message["Subject"] is None:
        return ""
    given = str(message["Subject"])[:_MOST_SUBJECT]
    try:
        decoded = str(make_header(decode_header(given)))
    except (LookupError, UnicodeError):  # an unknown or wrong character set
        decoded = given
    return _TAGS.sub("", " ".join(decoded.split()))


def changes(diff: bytes) -> dict[str, tuple[int, int]]:
    """Return the numbers of lines that a diff adds and removes, by file. Only hunks count, not a mail's signature."""
    found: dict[str, tuple[int, int]] = {}
    old = file = ""
    left = [0, 0]  # lines of the present hunk that are still to come, of the old file and of the new one
    for line in diff.split(b"\n"):
        if left[0] > 0 or left[1] > 0:
            added, removed = found.get(file, (0, 0))
            sign = line[:1]
            left[0] -= sign in (b" ", b"-", b"")
            left[1] -= sign in (b" ", b"+", b"")
            found[file] = (added + (sign == b"+"), removed + (sign == b"-"))
        elif line.startswith(b"--- "):
            old = _name(line)
        elif line.startswith(b"+++ "):
            file = _name(line) or old  # /dev/null: the file is removed
        elif hunk := _HUNK.match(line):
            left = [int(count) if count is not None else 1 for count in hunk.groups()]
    return found


def _name(line: bytes) -> str:
    """Return the file of a diff's head, without its first directory; empty for /dev/null."""
    name = line[4:].split(b"\t")[0].decode(errors="replace").strip()
    return "" if name == "/dev/null" else name.partition("/")[2]


def touched(diff: bytes) -> set[str]:
    """Return the files that a diff reads or writes: changed, created, removed, renamed."""
    heads = re.findall(rb"^(?:---|\+\+\+) [^/\s]+/+(\S+)|^(?:rename|copy) (?:from|to) (\S+)", diff, re.MULTILINE)
    return {path for pair in heads for name in pair if name and is_inside(path := name.decode(errors="replace"))}
