"""The lab's patches, applied to a copy of a tree."""

import hashlib
import os
import re
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from wblab.core.errors import InputError, WblabError, nearest

# The series file of a kernel, as quilt(1) has it: its patches, one file name per line, in order; `#` begins a comment.
#
# A patch is stored once, whichever series list it. Where a series needs another form of NAME.patch, that form is stored
# beside it as NAME@SERIES.patch.

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


# As patch(1) reads it: several slashes are one.
_CHANGED = r"^\+\+\+ [^/\s]+/+(\S+)"


def is_inside(name: str) -> bool:
    """Whether a path of a patch leads to a file of the tree, and not out of it."""
    return not name.startswith("/") and ".." not in name.split("/")


@dataclass(frozen=True)
class Patch:
    """One patch, read once: a build takes minutes, and the file may change meanwhile."""

    name: str  # part of the build id; see PatchFile
    path: Path
    data: bytes

    @property
    def sha256(self) -> str:
        """The digest of the patch."""
        return hashlib.sha256(self.data).hexdigest()

    @property
    def touches(self) -> tuple[str, ...]:
        """The files that the patch changes or creates, relative to the tree: none is outside it."""
        return tuple(filter(is_inside, re.findall(_CHANGED, self.data.decode(errors="replace"), re.MULTILINE)))


def read(file: PatchFile) -> Patch:
    """Read a patch."""
    return Patch(file.name, file.path, file.path.read_bytes())


def push(tree: Path, patches: Sequence[Patch], source: str) -> None:
    """Apply patches in order. source: the tree's name. Raises WblabError that names patch, file and hunk."""
    for patch in patches:
        done = _patch(tree, patch, "--forward", "--batch")
        if done.returncode:
            why = failure(done.stdout.decode(errors="replace"))
            raise WblabError(f"{patch.name} does not apply to {source}: {why}; refresh {patch.path} for this source")


MOST_FUZZ = 2  # lines of context that may differ; the default of patch(1), which `push` uses


def apply(tree: Path, patch: Patch, fuzz: int) -> str | None:
    """Apply one patch. If it does not apply, change nothing and return why."""
    how = ("--forward", "--batch", f"--fuzz={fuzz}")
    tried = _patch(tree, patch, "--dry-run", *how)
    if tried.returncode:
        return failure(tried.stdout.decode(errors="replace"))
    _patch(tree, patch, *how)
    return None


def pop(tree: Path, patches: Sequence[Patch]) -> tuple[str, ...]:
    """Revert the patches that the tree already has, last first; return their names."""
    popped = []
    for patch in reversed(patches):
        # Without fuzz, only exactly this patch matches.
        reverse = ("--reverse", "--force", "--fuzz=0")
        if _patch(tree, patch, "--dry-run", *reverse).returncode == 0:
            _patch(tree, patch, *reverse)
            popped.append(patch.name)
    return tuple(popped)


def _patch(tree: Path, patch: Patch, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    """Run patch(1) in a tree with a patch on standard input."""
    command = ["patch", "--strip=1", "--no-backup-if-mismatch", "--reject-file=-", *arguments]
    environment = {**os.environ, "LC_ALL": "C"}
    return subprocess.run(
        command,
        cwd=tree,
        env=environment,
        input=patch.data,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )


def failure(output: str) -> str:
    """Return the file and the hunk that failed, from the output of patch."""
    file = ""
    for line in output.splitlines():
        if match := re.match(r"(?:patching|checking) file (.*)", line):
            file = match[1].strip("'")
        elif match := re.match(r"Hunk #(\d+) FAILED at (\d+)", line):
            return f"hunk {match[1]} of {file} (line {match[2]})"
        elif line.startswith("|+++ "):  # the header of a missing file
            file = line.removeprefix("|+++ ").split("\t")[0].partition("/")[2]
        elif line.startswith("No file to patch"):
            return f"there is no {file}"
        elif line.startswith("Reversed (or previously applied)"):
            return f"{file} has it already"
    return output.strip().partition("\n")[0] or "patch failed"
