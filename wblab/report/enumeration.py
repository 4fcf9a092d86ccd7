"""A list within a sentence."""

from collections.abc import Sequence


def enumerated(words: Sequence[str]) -> str:
    """Return words as a sentence lists them: "a, b and c"; empty without words."""
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))
