"""The lab's patches, applied to a copy of a tree."""

import hashlib
import os
import re
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from wblab.core.errors import InputError, WblabError, nearest
from wblab.lab.kernelname import ordinal

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


# The forms of each patch that a tree between the series may need, from the series files.
#
# A patch (feature) is stored in several forms, NAME.patch and NAME@VERSION.patch. Series files say which form suits
# which release and in which order patches are applied. What is needed between two series follows from them: a patch
# that both list is needed; one that only one of them lists is taken if it applies.


@dataclass(frozen=True)
class Forms:
    """One patch: its forms, nearest first, and whether a kernel needs one of them.

    requires: the patch without which a form does not compile, by the form's path.
    """

    name: str  # without @VERSION and .patch
    paths: tuple[Path, ...]
    needed: bool
    requires: Mapping[Path, str] = field(default_factory=dict)

    def missing(self, form: Path, taken: Iterable[str]) -> str:
        """Return the patch without which a form does not compile, unless it is among those taken."""
        other = self.requires.get(form, "")
        return "" if other in taken else other


def nearest_first(version: str, names: Iterable[str]) -> list[str]:
    """Sort series or versions: first `version` and older ones, newest first, then newer ones, oldest first."""
    ordered = sorted(names, key=ordinal)
    older = [name for name in ordered if ordinal(name) <= ordinal(version)]
    return [*reversed(older), *ordered[len(older) :]]


def order(series: Iterable[Sequence[str]]) -> list[str]:
    """Merge the orders of several series, newest first: a name that only an older one has follows its predecessor."""
    merged: list[str] = []
    for names in series:
        place = 0
        for name in names:
            if name in merged:
                place = merged.index(name) + 1
            else:
                merged.insert(place, name)
                place += 1
    return merged


def forms(
    version: str,
    series: Mapping[str, Sequence[PatchFile]],
    folder: Path,
    optional: Iterable[str] = (),
    requires: Mapping[str, str] | None = None,
) -> list[Forms]:
    """Return the patches that a tree of `version` may need, in the order in which they are applied.

    A version lies between two series: the newest one not newer than it, and the next newer. (A tree is called 7.2 until
    the first release candidate of 7.3.) optional: names of patches that no kernel needs.
    requires: the patch without which a form does not compile, by the form's file name.
    """
    lists = {name: {file.stem: file.path for file in files} for name, files in series.items()}
    near = nearest_first(version, lists)
    older = [name for name in near if ordinal(name) <= ordinal(version)]
    beside = [lists[name] for name in (*older[:1], *near[len(older) :][:1])]
    newest_first = sorted(lists, key=ordinal, reverse=True)
    found = []
    for name in order(list(lists[series]) for series in newest_first):
        if any(name in listed for listed in beside):
            paths = _paths(name, version, lists, folder)
            needed = name not in optional and all(name in listed for listed in beside)
            others = {path: requires[path.name] for path in paths if requires and path.name in requires}
            found.append(Forms(name, paths, needed, others))
    return found


def _paths(name: str, version: str, lists: Mapping[str, Mapping[str, Path]], folder: Path) -> tuple[Path, ...]:
    """Return the forms of a patch, nearest first. A form suits the series that list it, and the version of its name."""
    suits = {series: listed[name] for series, listed in lists.items() if name in listed}
    suits |= {path.stem.rpartition("@")[2]: path for path in folder.glob(f"{name}@*.patch") if stem(path) == name}
    return tuple(dict.fromkeys(suits[near] for near in nearest_first(version, suits)))
