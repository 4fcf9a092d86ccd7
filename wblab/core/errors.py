"""The errors that a user is meant to read. `wblab.cli` prints them, once, as one line, and exits."""

from collections.abc import Sequence


class WblabError(Exception):
    """Something failed; the message names it and the next step. Exit code 1."""

    exit_code = 1


class InputError(WblabError):
    """What the user gave cannot be used: nothing was started, nothing was lost. Exit code 2."""

    exit_code = 2


def nearest(word: str, known: Sequence[str]) -> str:
    """Return ' (did you mean X?)' for the known word nearest to `word`, or '' where none is near."""
    from difflib import get_close_matches  # here: a run without a mistake does not need it

    matches = get_close_matches(word, known, n=1, cutoff=0.6)
    return f" (did you mean {matches[0]!r}?)" if matches else ""
