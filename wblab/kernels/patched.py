"""A kernel with patches of the user. They come before the lab's own, so they meet the source that they are for."""

import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from wblab.core.errors import InputError, WblabError
from wblab.kernels import catalog, kernel, make, patches, places, source, sourcetree
from wblab.kernels.build import Build, Say, shared_place
from wblab.kernels.choice import from_folder
from wblab.kernels.git import git
from wblab.kernels.identity import Recipe, choose_for, recipe, recipe_of_tree
from wblab.kernels.kernel import Kernel
from wblab.kernels.mailbox import UserPatch, touched
from wblab.kernels.patches import Patch
from wblab.kernels.source import KernelSource
from wblab.lab.progress import Report


@dataclass(frozen=True)
class Base:
    """A source that can be patched. place: see Build.

    series: of the lab's patches, with variants; empty for a tree of the user, whose patches are chosen by what applies.
    """

    source: KernelSource
    series: str = ""
    place: Path | None = None

    def check(self, given: Sequence[UserPatch]) -> None:
        """Raise InputError that names the first patch that does not apply, its file and its hunk.

        It takes a moment, where a build takes minutes: only the files that the patches touch are copied. The lab's own
        patches come after them; those of a tree are chosen by what applies, so there only the build tells.
        """
        own = recipe(self.series, catalog.load()).patches if self.series else ()
        with tempfile.TemporaryDirectory() as room:
            copied = Path(room)
            self._copy((*(item.patch for item in given), *own), copied)
            for item in given:
                try:
                    patches.push(copied, [item.patch], self.source.description)
                except WblabError as error:
                    said = str(error).partition("; refresh ")[0].replace(item.patch.name, str(item.patch.path), 1)
                    raise InputError(f"{said} ({item.subject})") from None
            try:
                patches.push(copied, own, f"{self.source.description} with the given patches")
            except WblabError as error:
                raise InputError(f"the lab's patch {str(error).partition('; refresh ')[0]}") from None

    def build(self, given: Sequence[UserPatch], report: Report, say: Say) -> Kernel:
        """Return the kernel with these patches; build it if necessary. Raises WblabError."""
        of_user = tuple(item.patch for item in given)
        own = recipe(self.series, catalog.load()) if self.series else self._chosen(of_user)
        with_all = replace(own, patches=(*of_user, *own.patches))
        compiler = make.compiler()
        place = self.place or shared_place(self.source, with_all, compiler)
        return Build(self.source, with_all, compiler, place).run(report, say)

    def _chosen(self, given: Sequence[Patch]) -> Recipe:
        """Return the recipe of a tree of the user to which these patches were applied. Raises WblabError."""
        original, version = from_folder(self.source.tree), sourcetree.version(self.source.tree)
        with tempfile.TemporaryDirectory() as room:
            self._copy(given, Path(room))
            patches.push(Path(room), given, self.source.description)
            changed = from_folder(Path(room))
            touching = {name for patch in given for name in touched(patch.data)}
            known = catalog.load()
            chosen = choose_for(
                lambda name: changed(name) if name in touching else original(name),
                version,
                self.source.description,
                known,
            )
        return recipe_of_tree(chosen, version, {}, known)

    def _copy(self, touching: Sequence[Patch], place: Path) -> None:
        """Copy the files of the source that these patches touch."""
        for name in {name for patch in touching for name in touched(patch.data)}:
            original = self.source.tree / name
            if ".." not in Path(name).parts and original.is_file():
                (place / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(original, place / name)


def base(wanted: str, report: Report) -> Base:
    """Return the source of a series, a tree or an archive, fetched and unpacked. Raises InputError, WblabError."""
    known = catalog.load()
    if not known.knows(wanted):
        path = Path(wanted).expanduser()
        if kernel.is_executable(path):
            raise InputError(f"{wanted} is a built kernel, which cannot be patched: give a series, a tree or a tarball")
        given = source.given(path)
        source.unpack(given, report)
        return Base(given)
    series = known.find(wanted)
    pin = known.pins.get(series.plain)
    reasons = places.fetch(pin, series, known, report) if pin else ["no source is pinned"]
    if pin is None or reasons:
        raise WblabError(f"no source for kernel {wanted}: {'; '.join(reasons)}; name a tree or a tarball instead")
    pinned = places.source_of(pin, series)
    source.unpack(pinned, report)
    return Base(pinned, series.name)


def base_of_tree(path: Path, description: str, place: Path) -> Base:
    """Return the source of a work tree in its present state; see `wanted.build_tree`. Raises InputError."""
    given = replace(source.given(path), description=description)
    return Base(given, place=place)


# A kernel's source as a git repository, with a commit for each patch: what a bisection and a comparison take.

# The same patches give the same commits. Git would tidy up in the background, in a directory that is renamed.
_COMMITTING = {
    "GIT_AUTHOR_NAME": "wblab",
    "GIT_AUTHOR_EMAIL": "wblab@localhost",
    "GIT_AUTHOR_DATE": "2000-01-01T00:00:00Z",
    "GIT_COMMITTER_NAME": "wblab",
    "GIT_COMMITTER_EMAIL": "wblab@localhost",
    "GIT_COMMITTER_DATE": "2000-01-01T00:00:00Z",
    "GIT_CONFIG_COUNT": "1",
    "GIT_CONFIG_KEY_0": "gc.auto",
    "GIT_CONFIG_VALUE_0": "0",
}


def write(base: Base, given: Sequence[UserPatch], target: Path, report: Report) -> str:
    """Write the source and the patches as commits into a new directory; return the last commit's hash.

    Raises InputError if the directory exists or a patch does not apply, WblabError if git fails.
    """
    if target.exists():
        raise InputError(f"{target} exists: give a new directory")
    base.check(given)
    staged = target.with_name(f"{target.name}.part")
    try:
        report(None, f"copying {base.source.description}")
        sourcetree.copy(base.source.tree, sourcetree.files(base.source.tree), staged)
        git(staged, "init", "--quiet", "--initial-branch=main")
        report(None, "committing the source")
        _commit(staged, f"Linux {sourcetree.version(staged)}: {base.source.description}")
        for place, item in enumerate(given):
            report((place + 1) / len(given), item.subject)
            patches.push(staged, [item.patch], base.source.description)
            _commit(staged, item.subject)
        last = git(staged, "rev-parse", "HEAD").stdout.strip()
        staged.rename(target)
    except OSError as error:
        raise InputError(f"cannot write {target}: {error.strerror}") from None
    finally:
        shutil.rmtree(staged, ignore_errors=True)
    return last


def _commit(folder: Path, subject: str) -> None:
    git(folder, "add", "--all", "--force")  # a kernel's .gitignore names files that its archive has
    git(folder, "commit", "--quiet", "--allow-empty", "--no-gpg-sign", "--message", subject, environment=_COMMITTING)
