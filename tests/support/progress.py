"""What long work says as it goes on, where it is no terminal: on a slow machine every ten seconds, else not at all."""

import re

_LINE = re.compile(r"^wblab: [^\n]*: \d+%, [^\n]*\n", re.MULTILINE)


def without_progress(errors: str) -> str:
    """Return standard error without those lines."""
    return _LINE.sub("", errors)
