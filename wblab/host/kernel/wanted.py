"""From what the user wants, a series or a path, to a kernel: one that is there, or one that is built now."""

import os
import shlex
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path

from wblab.core.errors import InputError, WblabError
from wblab.host.kernel import cache, catalog, kernel, make, source, tree
from wblab.host.kernel.build import Build, Say
from wblab.host.kernel.catalog import Catalog, Series
from wblab.host.kernel.kernel import Kernel
from wblab.host.kernel.recipe import recipe
from wblab.host.kernel.source import Source
from wblab.host.progress import Report, silent


@dataclass(frozen=True)
class Listed:
    """One series of the catalog, as `wblab kernel list` shows it."""

    series: str
    default: bool
    kernel: Kernel | None  # None: not built, or not with today's patches and configuration
    patches: tuple[str, ...]
    sources: tuple[str, ...]  # tried in this order


def list_kernels() -> list[Listed]:
    """Return all series that the lab knows, newest first. Builds and fetches nothing."""
    known = catalog.load()
    return [
        Listed(
            series=series.name,
            default=series.name == known.default,
            kernel=_current(series.name, known),
            patches=tuple(patch.name for patch in known.patches(series.name)),
            sources=(f"{series.package} ({', '.join(series.suites)})", "kernel.org"),
        )
        for series in known.series
    ]


def built_kernel(name: str, *, given: Collection[str] = ()) -> Kernel:
    """Return the kernel that a spec names, which must be built; "" is the default. Raises InputError.

    A spec may be somebody else's, and a kernel is a program that runs here: a spec names a series. given: what the user
    named on the command line, which may be paths; the same paths in a spec are then as good.
    """
    if _may_be_path(name) and full_name(name) not in map(full_name, given):
        option = shlex.join(["--kernel", full_name(name)])
        raise InputError(f"kernel {name!r} is a path, which counts on the command line only: give {option} to run it")
    kernel_ = find_kernel(name or None)
    if kernel_ is None:
        build = shlex.join(["wblab", "kernel", "build", *([name] if name else [])])
        what = name or "of the lab"
        raise InputError(f"the kernel {what} is not built yet: run '{build}', after 'make setup' if there is no wblab")
    return kernel_


def full_name(name: str) -> str:
    """Return what a kernel is called from everywhere: a series as it is, a path from the root on."""
    path = os.path.expanduser(name)
    return os.path.abspath(path) if _may_be_path(name) and os.path.exists(path) else name


def _may_be_path(name: str) -> bool:
    is_series = any(name == series.name for series in catalog.load().series)
    return name != "" and not is_series and (os.sep in name or os.path.exists(name))


def find_kernel(wanted: str | None = None) -> Kernel | None:
    """Return a kernel that is built already and up to date, or None. Builds and fetches nothing.

    `wanted`: a series, the path of a tree, an archive or an executable; None for the default series, or the one that
    stands in for it. For a series this takes milliseconds; for a tree, as long as git needs to see what has changed.
    Raises InputError for something that is none of these.
    """
    known = catalog.load()
    if wanted is None:
        return _current(known.default, known) or _stand_in(known)
    path = _path(wanted, known)
    if path is None:
        return _current(wanted, known)
    if kernel.is_executable(path):
        return kernel.inspect(path)
    given = source.given(path)
    return _given_build(given, known).done() if given.tree.exists() else None


def build_kernel(
    wanted: str | None = None, *, report: Report = silent, say: Say = lambda _: None, refresh: bool = False
) -> Kernel:
    """Return the wanted kernel (as for `find_kernel`), fetched and built where it is not yet.

    `refresh`: look for a newer source even if one is known. Raises InputError for what cannot be built, WblabError
    when no place has the source, a patch does not apply, the configuration does not come out or make fails.
    """
    known = catalog.load()
    if wanted is None:
        return _build_default(known, report, say, refresh)
    path = _path(wanted, known)
    if path is None:
        series = known.find(wanted)
        found = _series_source(series, known, report, refresh)
        if isinstance(found, list):
            raise WblabError(f"no source for kernel {wanted}: {'; '.join(found)}; name a tree or a tarball instead")
        return _build_series(series, found, known, report, say)
    if kernel.is_executable(path):
        return kernel.inspect(path)
    make.check_tools()
    given = source.given(path)
    source.unpack(given, report)
    return _run_given(_given_build(given, known), report, say)


def build_tree(
    path: Path, description: str, place: Path, *, report: Report = silent, say: Say = lambda _: None
) -> Kernel:
    """Return the kernel of a tree as it is now, built unless that was built before.

    `description`: what the kernel's record calls the source. `place`: a folder below the cache for the copy and the
    objects, the same one for all states of the tree, so that make has less to do. Raises InputError, WblabError.
    """
    make.check_tools()
    given = replace(source.given(path), description=description)
    return _run_given(replace(_given_build(given, catalog.load()), place=place), report, say)


def _run_given(build: Build, report: Report, say: Say) -> Kernel:
    if build.recipe.series != (version := tree.version(build.source.tree)):
        say(f"the lab has no patches for {version}: those for {build.recipe.series} are used")
    return build.run(report, say)


def _given_build(given: Source, known: Catalog) -> Build:
    """Return the build of what the user named, whose tree is unpacked."""
    return Build(given, recipe(tree.version(given.tree), known), make.compiler())


def _build_default(known: Catalog, report: Report, say: Say, refresh: bool) -> Kernel:
    """Build the default series, or the newest one that a source offers. Which one that was is remembered."""
    if not refresh and (stand_in := _stand_in(known)):
        return stand_in
    reason = ""  # why the default series cannot be had
    for series in known.from_default():
        found = _series_source(series, known, report, refresh)
        if isinstance(found, list):
            reason = reason or "; ".join(found)
            continue
        if reason:
            say(f"kernel {series.name} instead of {known.default}: {reason}")
            say("'wblab kernel build --refresh' looks again")
        built = _build_series(series, found, known, report, say)
        if not reason:
            return built
        cache.write_json(_memory(), {"series": series.name, "default": known.default, "reason": reason})
        return replace(built, instead_of=known.default)
    raise WblabError(f"no source for any kernel; for {known.default}: {reason}; name a tree or a tarball instead")


def _stand_in(known: Catalog) -> Kernel | None:
    """Return the kernel that was built because no source had the default series."""
    memory = cache.read_json(_memory())
    if not memory or memory.get("default") != known.default:
        return None
    found = _current(str(memory.get("series")), known)
    return replace(found, instead_of=known.default) if found else None


def _memory() -> Path:
    return cache.home() / "default.json"


def _series_source(series: Series, known: Catalog, report: Report, refresh: bool) -> Source | list[str]:
    remembered = None if refresh else source.remembered(series)
    return remembered or source.fetch(series, known, report)


def _build_series(series: Series, found: Source, known: Catalog, report: Report, say: Say) -> Kernel:
    """Build a series and note its result where `find_kernel` looks."""
    make.check_tools()
    build = Build(found, recipe(series.name, known), make.compiler())
    if not found.is_here and not build.done():  # the archive was deleted since: fetch it, or what is newest now
        again = source.fetch(series, known, report)
        if isinstance(again, list):
            raise WblabError(f"no source for kernel {series.name}: {'; '.join(again)}")
        build = replace(build, source=again)
    built = build.run(report, say)
    cache.write_json(_pointer(series.name), {"build": build.result.name, "recipe": build.recipe.digest})
    if series.name == known.default:
        _memory().unlink(missing_ok=True)
    return built


def _current(series: str, known: Catalog) -> Kernel | None:
    """Return the latest build of a series if patches and configuration are still the same."""
    pointer = cache.read_json(_pointer(series))
    if not pointer or pointer.get("recipe") != recipe(series, known).digest:
        return None
    return kernel.load(cache.home() / "builds" / str(pointer.get("build")))


def _pointer(series: str) -> Path:
    return cache.home() / f"current-{series}.json"


def _path(wanted: str, known: Catalog) -> Path | None:
    """Return `wanted` as a path, or None if it is a series. Raises InputError if it is neither."""
    if any(wanted == series.name for series in known.series):
        return None
    path = Path(wanted).expanduser()
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        pass
    except OSError as error:
        raise InputError(f"cannot read the kernel {wanted!r}: {error.strerror}") from None
    else:
        return path
    if os.sep in wanted:
        raise InputError(f"no kernel tree, archive or executable at {wanted!r}: check the path")
    known.find(wanted)
    return None
