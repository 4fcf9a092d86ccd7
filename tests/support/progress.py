"""Progress lines of long work without a terminal: one every ten seconds on a slow machine, else none."""

import re

_LINE = re.compile(r"^wblab: [^\n]*: \d+%, [^\n]*\n", re.MULTILINE)


def without_progress(errors: str) -> str:
    """Return standard error without those lines."""
    return _LINE.sub("", errors)
