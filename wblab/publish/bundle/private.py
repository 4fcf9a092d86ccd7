"""What a file says of the machine on which it was made: the home and the name of its user, and the host's name."""

import getpass
import os
import re
from functools import cache
from pathlib import Path

from wblab.core.files import read_bytes

_MOST_BYTES = 64 << 20
_EVERYBODYS = ("root", "user", "admin", "ubuntu", "debian", "localhost", "wblab", "linux", "test")
_LEAST_LETTERS = 4  # shorter names are found in everything


def places_in(path: Path, name: str) -> list[str]:
    """Return a line for each fact that a text file has. name: of the file, for the line. Raises OSError."""
    if not name.endswith((".json", ".log", ".toml")):
        return []
    content = read_bytes(path, _MOST_BYTES)
    return [f"{name} has {what}" for what, pattern in _facts() if pattern.search(content)]


@cache
def _facts() -> list[tuple[str, re.Pattern[bytes]]]:
    """Return what is looked for, in words and as bytes."""
    home, user, host = str(Path.home()), _user(), os.uname().nodename.partition(".")[0]
    facts = [(f"a path below your home {home}", home + "/")] if home != "/" else []
    for what, text in (("your user name", user), ("this machine's name", host)):
        if len(text) >= _LEAST_LETTERS and text not in _EVERYBODYS:
            facts.append((f"{what} {text!r}", text))
    return [(what, re.compile(rb"(?<![\w-])" + re.escape(os.fsencode(text)))) for what, text in facts]


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # no entry for this user
        return ""
