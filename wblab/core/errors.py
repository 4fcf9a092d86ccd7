"""Errors for the user. `wblab.cli` prints each once, as one line, and exits."""

from collections.abc import Sequence


class WblabError(Exception):
    """Something failed; the message names it and the next step. Exit code 1."""

    exit_code = 1


class InputError(WblabError):
    """The user's input is invalid; nothing was started. Exit code 2."""

    exit_code = 2


def nearest(word: str, known: Sequence[str]) -> str:
    """Return ' (did you mean X?)' with the known word closest to `word`, or '' if none is close."""
    from difflib import get_close_matches  # imported here, as only a mistake needs it

    matches = get_close_matches(word, known, n=1, cutoff=0.6)
    return f" (did you mean {matches[0]!r}?)" if matches else ""
