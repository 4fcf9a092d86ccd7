"""Choose the patches of a tree by what applies, in a copy of only the files that patches touch.

A form that applies without fuzz goes before one that needs fuzz: shifted lines are harmless, but with other context a
hunk may end up in the wrong place. Fuzz is the last resort, and only for needed patches: the series share forms, and
even 6.1 and 6.12 need it for some. A patch that only one of two series has may have come into the kernel between them;
with fuzz it would be applied a second time.
"""

import shutil
import tempfile
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from wblab.core.errors import WblabError
from wblab.kernels import patches
from wblab.kernels.patches import Forms, Patch, PatchFile, numbered, stem

# Return the content of a file of the tree, or None if there is none.
ReadFile = Callable[[str], bytes | None]


class PatchError(WblabError):
    """A patch that a kernel needs has no form that applies."""


@dataclass(frozen=True)
class Choice:
    """The patches of a tree, in order, and those that were left out. listed: all are those of the tree's own series."""

    patches: tuple[Patch, ...]
    listed: bool
    left_out: tuple[tuple[str, str], ...] = ()  # the patch, and why its nearest form does not apply
    fuzzy: tuple[str, ...] = ()  # patches that need fuzz

    def describe(self) -> str:
        """Return what was chosen, as text."""
        count = len(self.patches)
        parts = [f"{count} patch{'es' if count != 1 else ''} chosen by what applies"]
        parts += [f"with fuzz: {', '.join(self.fuzzy)}"] if self.fuzzy else []
        return "; ".join([*parts, *(f"without {name} ({why})" for name, why in self.left_out)])


def choose(tree: ReadFile, source: str, own: Sequence[PatchFile] | None, wanted: Sequence[Forms]) -> Choice:
    """Return the patches for a tree. source: its name for errors. Raises PatchError.

    own: the patches of the tree's own series, if it is listed. If all of them apply, they are chosen.
    """
    listed = [patches.read(file) for file in own or ()]
    others = {path: patches.read(PatchFile(path.name, path)) for one in wanted for path in one.paths}
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "tree"
        if own is not None:
            _copy(tree, listed, copy)
            patches.pop(copy, listed)
            with suppress(WblabError):
                patches.push(copy, listed, source)
                return Choice(tuple(listed), listed=True)
        shutil.rmtree(copy, ignore_errors=True)
        _copy(tree, others.values(), copy)
        return _by_patch(copy, source, wanted, others)


def from_folder(tree: Path) -> ReadFile:
    """Return a reader of the files of a tree in a folder."""

    def read(name: str) -> bytes | None:
        path = tree / name
        return path.read_bytes() if path.is_file() else None

    return read


def _by_patch(copy: Path, source: str, wanted: Sequence[Forms], read: dict[Path, Patch]) -> Choice:
    """Take the first form of each patch that applies. A form that the tree already has is taken before others."""
    popped = set(patches.pop(copy, [read[path] for one in wanted for path in reversed(one.paths)]))
    taken: list[Path] = []
    left_out: list[tuple[str, str]] = []
    fuzzy: list[str] = []
    for one in wanted:
        reasons: list[str] = []
        paths = sorted(one.paths, key=lambda path: path.name not in popped)
        for fuzz, path in ((fuzz, path) for fuzz in ((0, patches.MOST_FUZZ) if one.needed else (0,)) for path in paths):
            missing = one.missing(path, map(stem, taken))
            reason = f"it needs {missing}" if missing else patches.apply(copy, read[path], fuzz)
            if reason is None:
                taken.append(path)
                fuzzy += [path.name] if fuzz else []
                break
            reasons.append(reason)
        else:
            nearest = reasons[len(paths) if one.needed else 0]  # the nearest form's, with fuzz if that was tried
            if one.needed:
                raise PatchError(f"{paths[0].name} does not apply to {source}: {nearest}; refresh {paths[0]}")
            left_out.append((one.name, nearest))
    chosen = tuple(patches.read(file) for file in numbered(taken))
    return Choice(chosen, listed=False, left_out=tuple(left_out), fuzzy=tuple(fuzzy))


def _copy(tree: ReadFile, given: Iterable[Patch], target: Path) -> None:
    target.mkdir()
    for name in sorted({name for patch in given for name in patch.touches}):
        content = tree(name)
        if content is not None:
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            (target / name).write_bytes(content)
