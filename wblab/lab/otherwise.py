"""What a name is, that was given to a verb for something else: the verb that it is for."""

from collections.abc import Iterator
from pathlib import Path

from wblab.lab.places import DISKS, EXPLORATIONS, MATRICES, PRESETS

_VERBS = {PRESETS: ("an experiment", "run"), MATRICES: ("a matrix", "matrix"), EXPLORATIONS: ("a design", "explore")}


def otherwise(name: str, place: Path) -> str:
    """Return 'it is a matrix: wblab matrix NAME' for a name that is not in a place, but in others; else ''."""
    return "; ".join(_others(name, place))


def _others(name: str, place: Path) -> Iterator[str]:
    for other, (what, verb) in _VERBS.items():
        if other != place and _is_in(name, other):
            yield f"it is {what}: wblab {verb} {name}"
    if place != DISKS and _is_in(name, DISKS):
        yield f"it is a disk: wblab run --disk {name}"


def _is_in(name: str, place: Path) -> bool:
    return name.isprintable() and "/" not in name and len(name) < 100 and (place / f"{name}.toml").is_file()
