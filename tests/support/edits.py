"""Changes to a copy of the lab's sources."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Edit:
    """A text that occurs exactly once in a file, and its replacement."""

    file: str
    text: str
    instead: str


def apply(lab: Path, edits: Iterable[Edit]) -> None:
    for edit in edits:
        path = lab / edit.file
        source = path.read_text()
        assert source.count(edit.text) == 1, f"{edit.file} does not have once: {edit.text!r}"
        path.write_text(source.replace(edit.text, edit.instead))
