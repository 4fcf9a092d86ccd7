"""A text as its tool printed it, out of what it came in: another encoding, colours, a page's source, journal's JSON.

All readers of texts get theirs from here, so that none has to know how a text was kept.
"""

import html
import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime

_UTF16 = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
_BOM = "\ufeff"
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_LEAST_LETTERS, _MOST_BROKEN = 16, 0.01  # of a text with NULs in it; letters that cannot be decoded, of all
_COLOUR = re.compile(r"\x1b\[[0-9;?]{0,16}[A-Za-z]")
_OF_PAGE = ("&lt;", "&gt;", "&#")
_MESSAGE = '"MESSAGE"'
_MOST_LETTERS, _MOST_IN_MESSAGE = 65536, 16384  # of a line of JSON, and of its message


def decoded(content: bytes) -> str:
    """Return a text out of a file's bytes, without the NULs that a loss of power leaves in a log."""
    encoding = _UTF16.get(content[:2], "utf-8")
    return content.decode(encoding, errors="replace").lstrip(_BOM).replace("\0", "")


def reads_as_text(begin: bytes) -> bool:
    """Whether a file that has NULs is a text all the same: one in UTF-16, or a log with a gap."""
    text = decoded(begin)
    is_whole = text.count("\ufffd") <= 1 + _MOST_BROKEN * len(text)  # the begin may end within a letter
    return len(text.strip()) >= _LEAST_LETTERS and is_whole and not _CONTROL.search(text)


def lines_of(text: str, most_letters: int) -> Iterator[str]:
    """Yield the lines of a text one by one, so that a large one is not held twice; each cut after so many letters."""
    begin, size = 0, len(text)
    while begin < size:
        end = text.find("\n", begin)
        end = size if end < 0 else end
        yield text[begin : min(end, begin + most_letters)]
        begin = end + 1


def unwrapped(text: str) -> str:
    """Return a text without colours, with the letters that a page's source means, and journalctl's JSON as lines."""
    if "\x1b[" in text:
        text = _COLOUR.sub("", text)
    if text.lstrip()[:1] == "{" and _MESSAGE in text:
        text = "\n".join(_of_journal(text))
    if any(sign in text for sign in _OF_PAGE):
        text = html.unescape(text)
    return text


def _of_journal(text: str) -> Iterator[str]:
    """Yield the lines of `journalctl -o json` as `-o short-iso` has them, and all others as they are."""
    for line in text.splitlines():
        if not (line.startswith("{") and _MESSAGE in line and len(line) <= _MOST_LETTERS):
            yield line
            continue
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            yield line
            continue
        message = _message(entry.get("MESSAGE"))
        who = str(entry.get("SYSLOG_IDENTIFIER") or entry.get("_COMM") or "journal").split()[:1]
        head = f"{_time(entry.get('__REALTIME_TIMESTAMP'))}host {who[0] if who else 'journal'}: "
        for part in message[:_MOST_IN_MESSAGE].splitlines():
            yield head + part


def _message(said: object) -> str:
    """Return a message: a string, or its bytes as numbers where it is no UTF-8."""
    if isinstance(said, list) and all(isinstance(each, int) and 0 <= each < 256 for each in said):
        return bytes(said).decode(errors="replace")
    return said if isinstance(said, str) else ""


def _time(microseconds: object) -> str:
    """Return the time of an entry, with a blank behind it; empty if it has none."""
    try:
        at = datetime.fromtimestamp(int(str(microseconds)) / 1e6, UTC)
    except (ValueError, OverflowError, OSError):
        return ""
    return f"{at:%Y-%m-%dT%H:%M:%S.%f}+00:00 "
