"""The series file of a kernel, as quilt(1) has it: its patches, one file name per line, in order; `#` begins a comment.

A patch is stored once, whichever series list it. Where a series needs another form of NAME.patch, that form is stored
beside it as NAME@SERIES.patch.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from wblab.core.errors import InputError, nearest

_NAME = re.compile(r"[\w.-]+(?:@[\d.]+)?\.patch", re.ASCII)


@dataclass(frozen=True)
class PatchFile:
    """A patch that a kernel is built with."""

    name: str  # part of the build id, such as 0003-NAME.patch: numbered by its place, as git format-patch does
    path: Path

    @property
    def stem(self) -> str:
        """The name without its place, such as NAME: the same for all forms of the patch."""
        return stem(self.path)


def stem(path: Path) -> str:
    """Return NAME for NAME.patch and NAME@SERIES.patch."""
    return path.name.removesuffix(".patch").partition("@")[0]


def numbered(paths: Iterable[Path]) -> tuple[PatchFile, ...]:
    """Return patches in the order in which they are applied."""
    return tuple(PatchFile(f"{place:04}-{stem(path)}.patch", path) for place, path in enumerate(paths, start=1))


def read_series(file: Path, folder: Path) -> tuple[PatchFile, ...]:
    """Return the patches that a series file lists, which are in `folder`. Raises InputError that names the line."""
    try:
        lines = file.read_text(errors="replace").splitlines()
    except OSError as error:
        raise InputError(f"cannot read {file}: {error.strerror}; list the patches there, one name per line") from None
    found: list[Path] = []
    for number, line in enumerate(lines, start=1):
        if not (name := re.sub(r"(^|\s)#.*", "", line).strip()):
            continue
        where = f"{file}, line {number}"
        if _NAME.fullmatch(name) is None:
            raise InputError(f"{where}: {name!r} is no name of a patch: give one NAME.patch per line")
        path = folder / name
        if not path.is_file():
            there = sorted(patch.name for patch in folder.glob("*.patch"))
            hint = nearest(name, there)
            raise InputError(f"{where}: no patch {name!r} in {folder}{hint}: add it or correct the line")
        if path in found:
            raise InputError(f"{where}: {name!r} is listed twice: remove one of the lines")
        found.append(path)
    return numbered(found)
