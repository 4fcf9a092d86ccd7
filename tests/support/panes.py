"""Panes of a picture, in the order in which they are drawn."""

from collections.abc import Iterable, Sequence


def in_order(wanted: Sequence[str], names: Iterable[str]) -> bool:
    """Whether all these panes are there, in this order; others may stand between them."""
    found = iter(names)
    return all(name in found for name in wanted)
