"""The forms of each patch that a tree between the series may need, from the series files.

A patch (feature) is stored in several forms, NAME.patch and NAME@VERSION.patch. Series files say which form suits which
release and in which order patches are applied. What is needed between two series follows from them: a patch that both
list is needed; one that only one of them lists is taken if it applies.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from wblab.kernels.patches import PatchFile, stem
from wblab.kernels.versions import ordinal


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


def nearest(version: str, names: Iterable[str]) -> list[str]:
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
    near = nearest(version, lists)
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
    return tuple(dict.fromkeys(suits[near] for near in nearest(version, suits)))
