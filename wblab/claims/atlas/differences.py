"""Where the kernels of an atlas differ: lines with another outcome on the same filesystem."""

from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from wblab.analysis.statistics.decision import HARMS, NOT_DECIDED, NOT_REPRODUCED, NOT_TESTABLE, REPRODUCED
from wblab.claims.atlas.atlaslines import AtlasCell, AtlasLine
from wblab.claims.atlas.target import FILESYSTEMS
from wblab.claims.sources.cases import case_spec
from wblab.claims.sources.changes import CHANGED, Changed
from wblab.claims.sources.registry import WORKS
from wblab.claims.trial import NAME as TRIAL
from wblab.lab.kernelname import ordinal

DECIDED = {REPRODUCED, NOT_REPRODUCED, HARMS}
NOT_EXPLAINED = "not explained"

Sort = Literal["differs", "not decided", "not testable"]


@dataclass(frozen=True)
class ComparedTarget:
    """A line on one filesystem, with a cell for each kernel.

    sort: kernels have different outcomes; or all that are decided agree, and some are not decided, or cannot be tested.
    changed: the change of the kernel that explains a difference, if one is known.
    """

    line: AtlasLine
    filesystem: str
    cells: tuple[AtlasCell, ...]
    sort: Sort
    changed: Changed | None = None

    @property
    def since(self) -> str:
        """Since when, and by which commit, the outcome differs; that no cause is known; empty if nothing differs."""
        if self.sort != "differs":
            return ""
        return str(self.changed) if self.changed else NOT_EXPLAINED


def compared(lines: Iterable[AtlasLine]) -> list[ComparedTarget]:
    """Return what is not the same on every kernel. A part that is not made is no difference."""
    lines = list(lines)
    names = {line.name for line in lines}
    return [
        item
        for line in lines
        for filesystem, cells in by_filesystem(line)
        if not _is_told_twice(line.name, filesystem, names) and (item := _of(line, filesystem, cells))
    ]


def _is_told_twice(name: str, filesystem: str, names: Container[str]) -> bool:
    """Whether another claim stands for this one, as it has the same runs on this filesystem.

    On ext4 pauses-l1-ext2 is pauses-l1-ext4. On a filesystem that neither is about, the first is shown.
    """
    stem, _, own = name.rpartition("-")
    if own not in FILESYSTEMS:
        return False
    shown = next(one for one in (filesystem, *FILESYSTEMS) if f"{stem}-{one}" in names)
    return own != shown


def _of(line: AtlasLine, filesystem: str, cells: tuple[AtlasCell, ...]) -> ComparedTarget | None:
    outcomes = {cell.outcome for cell in cells if cell.row}
    if len(outcomes & DECIDED) > 1:
        return ComparedTarget(line, filesystem, cells, "differs", _known(line, filesystem, cells))
    if NOT_DECIDED in outcomes and len(outcomes) > 1:
        return ComparedTarget(line, filesystem, cells, "not decided")
    if NOT_TESTABLE in outcomes and len(outcomes) > 1:
        return ComparedTarget(line, filesystem, cells, "not testable")
    return None


def by_filesystem(line: AtlasLine) -> Iterator[tuple[str, tuple[AtlasCell, ...]]]:
    """Yield each filesystem of a line with its cells, one for each kernel."""
    for filesystem in dict.fromkeys(cell.target.filesystem for cell in line.cells):
        yield filesystem, tuple(cell for cell in line.cells if cell.target.filesystem == filesystem)


def _known(line: AtlasLine, filesystem: str, cells: Iterable[AtlasCell]) -> Changed | None:
    """Return the known change of a claim if it was found on this filesystem, and agrees with every decided kernel."""
    if line.source == TRIAL:
        return None
    changed = CHANGED.get(line.name)
    if changed is None or not _is_own(line.name, line.source, filesystem):
        return None
    since = ordinal(changed.by.since)
    agree = all(
        cell.outcome == (changed.after if ordinal(cell.target.series) >= since else changed.before)
        for cell in cells
        if cell.outcome in DECIDED
    )
    return changed if agree else None


def _is_own(name: str, source: str, filesystem: str) -> bool:
    """Whether a claim is about this filesystem: then the target changes no spec of its cases."""
    (cases,) = [claim.cases for claim in WORKS[source].claims if claim.name == name]
    specs = (case_spec(case, 1) for case in cases)
    return all(disk.filesystem in ("none", "swap", filesystem) for spec in specs for disk in spec.disk.values())
