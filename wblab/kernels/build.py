"""One build: copy a tree, patch, configure and compile it, and cache the result."""

import json
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from wblab.core.errors import InputError, WblabError
from wblab.kernels import cache, config, kernel, make, patches, source, times, tree
from wblab.kernels.identity import Identity, Named
from wblab.kernels.kernel import Kernel
from wblab.kernels.recipe import METHOD, Recipe
from wblab.kernels.source import Source
from wblab.lab.progress import Report

Say = Callable[[str], None]


@dataclass(frozen=True)
class Build:
    """All inputs of a build."""

    source: Source
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
    def work(self) -> Path:
        """The folder of copy and objects. For a user's tree it is kept, so the next make is shorter."""
        if self.place:
            return self.place
        if self.source.is_tree:
            return cache.home() / "objects" / self.recipe.key(self.source.path, self.compiler)[:16]
        return self.result.with_suffix(".work")

    def done(self) -> Kernel | None:
        """Return the kernel if it is already built."""
        return kernel.load(self.result)

    def run(self, report: Report, say: Say) -> Kernel:
        """Return the kernel; build it if necessary. A second process waits for the first.

        Raises WblabError if something cannot be fetched, patched, configured or compiled.
        """
        if done := self.done():
            return done
        make.check_tools()
        _check_path()
        cache.room("builds")
        lock = cache.room(*self.work.parent.relative_to(cache.home()).parts) / f"{self.work.name}.lock"
        with cache.locked(lock, lambda: say(f"waiting until another process has built this kernel ({lock})")):
            return self.done() or self._compile_or_clean(report)

    def _compile_or_clean(self, report: Report) -> Kernel:
        """After a failure keep only the log; after an interruption keep everything, to continue later."""
        try:
            return self._compile(report)
        except WblabError:
            if not self.source.is_tree:
                shutil.rmtree(self.work, ignore_errors=True)
            raise

    def _compile(self, report: Report) -> Kernel:
        started_s = time.monotonic()
        pristine = source.unpack(self.source, report)
        log = self.result.with_suffix(".log")  # moves to the result once there is one
        log.unlink(missing_ok=True)
        made = make.Making(self.work / "tree", self.work / "objects", log)
        report(None, "copying and patching the tree")
        tree.copy(pristine, tree.files(pristine), made.tree)
        if self.source.is_tree:  # it may have some of the patches already
            patches.pop(made.tree, self.recipe.patches)
        patches.push(made.tree, self.recipe.patches, self.source.description)
        if self.source.is_tree:  # its objects are kept
            times.settle(made.tree, self.work / "times.json")
        configured = made.configure(config.allconfig(self.recipe.options), report)
        config.check(self.recipe.options, config.parse_config(configured), made.tree)
        made.compile(self.recipe.steps, report)
        self._keep(made, time.monotonic() - started_s)
        if not self.source.is_tree:
            shutil.rmtree(self.work)
        built = self.done()
        assert built, "just kept"
        return built

    def _keep(self, made: make.Making, build_s: float) -> None:
        """Collect the result, and move it into place in one step."""
        staged = self.work / "result"
        shutil.rmtree(staged, ignore_errors=True)
        staged.mkdir()
        shutil.copy2(made.objects / "linux", staged / "linux")
        shutil.copy2(made.objects / ".config", staged / "config")
        identity = Identity(
            series=tree.version(made.tree),
            release=made.release(),
            source=self.source.description,
            source_identity=self.source.identity,
            method=METHOD,
            options=config.allconfig(self.recipe.options),
            patches=tuple(Named(patch.name, patch.sha256) for patch in self.recipe.patches),
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


def _check_path() -> None:
    home = str(cache.home())
    if set(home) & set(" :\t"):
        raise InputError(f"make cannot build below {home!r}: set XDG_CACHE_HOME to a path without spaces and colons")
