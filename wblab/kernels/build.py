"""One build: copy a tree, patch, configure and compile it, and cache the result."""

import hashlib
import json
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from wblab.core.errors import InputError
from wblab.kernels import config, kept, kernel, make, patches, source, sourcetree
from wblab.kernels.identity import METHOD, Identity, PatchDigest, Recipe
from wblab.kernels.kernel import Kernel
from wblab.kernels.objects import Objects
from wblab.kernels.source import KernelSource
from wblab.lab import cache
from wblab.lab.progress import Report

Say = Callable[[str], None]


@dataclass(frozen=True)
class Build:
    """All inputs of a build."""

    source: KernelSource
    recipe: Recipe
    compiler: str
    place: Path | None = None  # the folder of copy and objects, below the cache; None: chosen here

    @cached_property
    def key(self) -> str:
        """The build id."""
        return self.recipe.key(self.source.identity, self.compiler)

    @property
    def result(self) -> Path:
        """The folder of the finished build: linux, config, build.log, identity.json."""
        return result(self.key)

    @property
    def keeps_objects(self) -> bool:
        """Whether the objects stay for the next build in the same place."""
        return self.place is not None or self.source.is_tree

    @property
    def work(self) -> Path:
        """The folder of copy and objects."""
        if self.keeps_objects:
            return self.place or shared_place(self.source, self.recipe, self.compiler)
        return self.result.with_suffix(".work")

    def done(self) -> Kernel | None:
        """Return the kernel if it is already built."""
        return kernel.load(self.result)

    def run(self, report: Report, say: Say) -> Kernel:
        """Return the kernel; build it if necessary. A second process waits for the first, and for its make.

        Raises WblabError if something cannot be fetched, patched, configured or compiled.
        """
        if done := self.done():
            return done
        make.check_tools()
        _check_path()
        cache.room("builds")
        lock = cache.room(*self.work.parent.relative_to(cache.home()).parts) / f"{self.work.name}.lock"
        with cache.locked(lock, lambda: say(f"waiting until another process has built this kernel ({lock})")) as held:
            built = self.done() or self._compile(report, held)
        if self.keeps_objects:
            kept.prune()
        return built

    def _compile(self, report: Report, held: int) -> Kernel:
        """Build. Afterwards, however it ends, only the log and the result are left, and what `Objects` keeps."""
        log = self.result.with_suffix(".log")  # moves to the result once there is one
        log.unlink(missing_ok=True)
        made = make.Making(self.work / "tree", self.work / "objects", log, held)
        objects = Objects(self.work, make.surroundings()) if self.keeps_objects else None
        if not objects:
            shutil.rmtree(self.work, ignore_errors=True)  # of a build that was killed
        try:
            self._make(made, objects, report)
        finally:
            if objects:
                objects.drop()
            shutil.rmtree(made.tree if objects else self.work, ignore_errors=True)
        built = self.done()
        assert built, "just kept"
        return built

    def _make(self, made: make.Making, objects: Objects | None, report: Report) -> None:
        started_s = time.monotonic()
        pristine = source.unpack(self.source, report)
        report(None, "copying and patching the tree")
        sourcetree.copy(pristine, sourcetree.files(pristine), made.tree)
        if self.source.is_tree:  # it may have some of the patches already
            patches.pop(made.tree, self.recipe.patches)
        patches.push(made.tree, self.recipe.patches, self.source.description)
        if objects:
            report(None, "taking the objects of the last build")
            why = objects.take(made.tree)
            made.note(f"built whole: {why}" if why else "the objects of the last build are used")
        allconfig = config.allconfig(self.recipe.options)
        configured = made.configure(allconfig, report)
        if objects and not objects.configured(configured):
            made.note("built whole: the configuration has changed")
            configured = made.configure(allconfig, report)
        config.check(self.recipe.options, config.parse_config(configured), made.tree)
        made.compile(self.recipe.steps, report)
        if objects:
            objects.check()
        self._keep(made, time.monotonic() - started_s)
        if objects:
            objects.keep()

    def _keep(self, made: make.Making, build_s: float) -> None:
        """Collect the result, and move it into place in one step."""
        staged = self.work / "result"
        shutil.rmtree(staged, ignore_errors=True)
        staged.mkdir()
        shutil.copy2(made.objects / "linux", staged / "linux")
        shutil.copy2(made.objects / ".config", staged / "config")
        identity = Identity(
            series=sourcetree.version(made.tree),
            release=made.release(),
            source=self.source.description,
            source_identity=self.source.identity,
            method=METHOD,
            options=config.allconfig(self.recipe.options),
            patches=tuple(PatchDigest(patch.name, patch.sha256) for patch in self.recipe.patches),
            compiler=self.compiler,
            build_id=self.key,
            config_sha256=kernel.sha256(staged / "config"),
            linux_sha256=kernel.sha256(staged / "linux"),
        )
        values = identity.values() | {"build_s": round(build_s, 1)}
        (staged / "identity.json").write_text(json.dumps(values, indent=2) + "\n")
        made.log.rename(staged / "build.log")
        shutil.rmtree(self.result, ignore_errors=True)  # an incomplete one; a complete one is never built again
        staged.rename(self.result)


def result(key: str) -> Path:
    """Return the folder of a build in the cache."""
    return cache.home() / "builds" / key[:16]


def shared_place(source: KernelSource, recipe: Recipe, compiler: str) -> Path:
    """Return the folder of copy and objects of all kernels of a source with these options, whatever their patches."""
    same = (source.path if source.is_tree else source.identity, config.allconfig(recipe.options), compiler)
    return cache.home() / "objects" / hashlib.sha256("\0".join(same).encode(errors="surrogateescape")).hexdigest()[:16]


def _check_path() -> None:
    home = str(cache.home())
    if set(home) & set(" :\t"):
        raise InputError(f"make cannot build below {home!r}: set XDG_CACHE_HOME to a path without spaces and colons")
