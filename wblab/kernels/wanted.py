"""Find or build the kernel that the user names by a series or a path."""

import os
import shlex
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cache as once
from pathlib import Path
from types import MappingProxyType
from typing import TypeAlias

from wblab.core.errors import InputError, WblabError
from wblab.kernels import carry, catalog, choice, here, kernel, make, series, source, sourcetree
from wblab.kernels.build import Build, Say
from wblab.kernels.catalog import Catalog
from wblab.kernels.choice import Choice, PatchError, ReadFile
from wblab.kernels.features import on_processors
from wblab.kernels.identity import choose_for, recipe_of_tree
from wblab.kernels.kernel import Kernel
from wblab.kernels.series import NoSourceError
from wblab.kernels.source import KernelSource
from wblab.kernels.stock import stockkernel as stock
from wblab.lab import cache
from wblab.lab.kernelname import VARIANT, named, options_in, processors_in, with_processors
from wblab.lab.progress import Report, silent

# From the name of a kernel in a spec to the kernel that runs use. Raises InputError.
KernelResolver: TypeAlias = Callable[[str], Kernel]

_FIRST = "lean"


def built_kernel(name: str, *, given: Collection[str] = (), option: str = "--kernel") -> Kernel:
    """Return the built kernel that a spec names; "" is the default. Raises InputError.

    A kernel is a program that runs here, and a spec may come from somebody else. So a spec may name only a series, or a
    path or a directory of this machine that the user has also named on the command line (given), by an option.
    """
    if here.is_here(name):
        return _here(name, given, option)
    if stock.is_stock(name):
        return _stock(name)
    plain, options, _ = _parted(name)
    if _may_be_path(plain) and full_name(plain) not in (full_name(_parted(each)[0]) for each in given):
        asked = shlex.join([option, full_name(plain)])
        raise InputError(
            f"kernel {plain!r} is a path, and a spec may not choose a path by itself: give {asked} to run it"
        )
    kernel_ = find_kernel(name or None)
    if kernel_ is None:
        with_options = [word for option in options for word in ("--config", f"{option}={options[option]}")]
        build = shlex.join(["wblab", "kernel", "build", *([plain] if plain else []), *with_options])
        what = f"kernel {name}" if plain else f"the default kernel{named('', options)}"
        raise InputError(
            f"{what} is not built yet: {_other_package(plain, options)}build it with '{build}' (some minutes, "
            "2.5 GB), or add a packed one with 'wblab kernel add FILE'"
        )
    return kernel_


def _other_package(plain: str, options: Mapping[str, str]) -> str:
    known = catalog.load()
    if plain and not known.knows(plain):
        return ""
    why = carry.describe(None, known.find(named(plain or known.default, options)), known)
    return f"{why}; or " if why else ""


def _here(name: str, given: Collection[str], option: str) -> Kernel:
    if full_name(name) not in map(full_name, given):
        asked = shlex.join([option, name])
        raise InputError(f"{name} writes on this machine, and a study may not choose that by itself: give {asked}")
    return here.find(name)


def _stock(name: str) -> Kernel:
    found = stock.find(name)
    if found is None:
        raise InputError(f"the kernel {name} is not here yet: take it with '{stock.how_to_get(name)}'")
    return found


def built_kernels(*given: str, option: str = "--kernel") -> KernelResolver:
    """Return a resolver of built kernels, which looks each name up once; see `built_kernel`."""
    return once(lambda name: built_kernel(name, given=given, option=option))


def place_of_name(name: str) -> str:
    """Return where a kernel of this name runs (`Kernel.place`), whether or not it is there."""
    if here.is_here(name):
        return here.HereKernel.place
    return stock.StockKernel.place if stock.is_stock(name) else Kernel.place


def processors_of(name: str) -> int:
    """Return on how many processors a kernel of this name runs, whether or not it is there. Raises InputError."""
    if here.is_here(name):
        return here.find(name).processors
    return stock.parse(name).processors if stock.is_stock(name) else processors_in(name)[1]


def full_name(name: str) -> str:
    """Return a kernel's name that holds in every directory, in its one spelling: a path as an absolute path."""
    if stock.is_stock(name) or here.is_here(name):
        return here.full_name(name) if here.is_here(name) else name
    plain, options, processors = _parted(name)
    path = os.path.expanduser(plain)
    if _may_be_path(plain) and os.path.exists(path):
        plain = os.path.abspath(path)
    return named(with_processors(plain, processors), options)


def _parted(name: str) -> tuple[str, dict[str, str], int]:
    """Return a kernel's name, its options and its number of processors; a path that exists has neither."""
    if os.path.exists(os.path.expanduser(name)):
        return name, {}, 1
    without, processors = processors_in(name)
    return *options_in(without), processors


def _may_be_path(name: str) -> bool:
    return name != "" and not catalog.load().knows(name) and (os.sep in name or os.path.exists(name))


def find_kernel(wanted: str | None = None) -> Kernel | None:
    """Return a kernel that is built and up to date, or None. Build and fetch nothing.

    wanted: a series or the path of a tree, an archive or an executable, with variants and options (7.3+hz-1000,
    7.3+PREEMPT=y), and with the processors that it runs on (7.3+smp@4); None: the default series, its substitute, or
    its variant that is built first. A series takes milliseconds; a tree takes as long as `git status`. Raises
    InputError for anything else.
    """
    if stock.is_stock(wanted or ""):
        return stock.find(wanted or "")
    known = catalog.load()
    if wanted is None:
        return carry.current(known.find(known.default), known) or _stand_in(known) or _first(known)
    plain, options, processors = _parted(wanted)
    found = _find(plain, options, known)
    return on_processors(found, processors, wanted) if found else None


def _find(plain: str, options: Mapping[str, str], known: Catalog) -> Kernel | None:
    path = _path(plain, known) if plain else None
    if path is None:
        return carry.current(known.find(named(plain or known.default, options)), known)
    if kernel.is_executable(path):
        return _executable(path, options)
    given = source.given(path)
    with suppress(PatchError):  # then it cannot have been built
        return _given_build(given, known, options)[0].done() if given.tree.exists() else None
    return None


def build_kernel(
    wanted: str | None = None, *, report: Report = silent, say: Say = lambda _: None, refresh: bool = False
) -> Kernel:
    """Return the wanted kernel (see `find_kernel`); fetch and build it if necessary.

    refresh: first pin the newest source. Raises InputError for something that cannot be built. Raises WblabError if the
    source cannot be found, a patch does not apply, the configuration differs from the request, or make fails.
    """
    if stock.is_stock(wanted or ""):
        raise InputError(f"a stock kernel is fetched, not built: {stock.how_to_get(wanted or '')}")
    known = catalog.load()
    plain, options, processors = _parted(wanted or "")
    if processors > 1:
        name = named(plain, options)
        raise InputError(f"{wanted}: a number of processors is for runs: build {name} and run {wanted}")
    path = _path(plain, known) if plain else None
    if refresh:
        if path:
            raise InputError(f"--refresh moves the pin of a series, and {plain!r} is a path: leave --refresh out")
        known = series.move_pin(known.find(plain or known.default), known, report, say)
    if wanted is None:
        return _build_default(known, report, say)
    if path is None:
        entry = known.find(named(plain or known.default, options))
        carry.current(entry, known)  # then there is nothing to build
        try:
            return series.build(entry, known, report, say)
        except NoSourceError as error:
            raise WblabError(f"no source for kernel {wanted}: {error}; name a tree or a tarball instead") from None
    if kernel.is_executable(path):
        return _executable(path, options)
    make.check_tools()
    given = source.given(path)
    source.unpack(given, report)
    return _run_given(*_given_build(given, known, options), report, say)


def build_tree(  # noqa: PLR0913 - three of them by name
    path: Path,
    description: str,
    place: Path,
    *,
    options: Mapping[str, int | str] = MappingProxyType({}),
    report: Report = silent,
    say: Say = lambda _: None,
) -> Kernel:
    """Return the kernel of a tree in its present state; build it if necessary.

    description: the source, for the kernel's record. place: a folder below the cache for the copy and the objects. With
    one place for all states of the tree, make rebuilds only what changed. options: changes to the configuration, by
    name. Raises InputError, WblabError.
    """
    make.check_tools()
    given = replace(source.given(path), description=description)
    build, chosen = _given_build(given, catalog.load(), options)
    return _run_given(replace(build, place=place), chosen, report, say)


def check_patches(read: ReadFile, description: str) -> None:
    """Raise PatchError if a patch that a kernel needs does not apply to a source. Takes about a second."""
    if version := sourcetree.version_of(read("Makefile") or b""):
        choose_for(read, version, description, catalog.load())


def _run_given(build: Build, chosen: Choice, report: Report, say: Say) -> Kernel:
    if not chosen.listed:
        say(f"{sourcetree.version(build.source.tree)}: {chosen.describe()}")
    return build.run(report, say)


def _executable(path: Path, options: Mapping[str, str]) -> Kernel:
    if options:
        raise InputError(f"{path} is built already: leave out its options, {', '.join(options)}, or name a kernel tree")
    return kernel.inspect(path)


def _given_build(given: KernelSource, known: Catalog, options: Mapping[str, int | str]) -> tuple[Build, Choice]:
    """Return the build of a source that the user named and that is unpacked, and its patches. Raises PatchError."""
    version = sourcetree.version(given.tree)
    chosen = choose_for(choice.from_folder(given.tree), version, given.description, known)
    return Build(given, recipe_of_tree(chosen, version, options, known), make.compiler()), chosen


def _build_default(known: Catalog, report: Report, say: Say) -> Kernel:
    """Build the default series, or else the newest older one with a source, and remember which."""
    if not carry.current(known.find(known.default), known) and (stand_in := _stand_in(known)):
        return stand_in
    reason = ""  # why the default series has no source
    for candidate in known.from_default():
        try:
            built = series.build(candidate, known, report, say)
        except NoSourceError as error:
            reason = reason or str(error)
            continue
        if not reason:
            _memory().unlink(missing_ok=True)
            return built
        say(f"kernel {candidate.name} instead of {known.default}: {reason}")
        say(f"'wblab kernel build {known.default}' looks again")
        cache.write_json(_memory(), {"series": candidate.name, "default": known.default, "reason": reason})
        return replace(built, instead_of=known.default)
    raise WblabError(f"no source for any kernel; for {known.default}: {reason}; name a tree or a tarball instead")


def _stand_in(known: Catalog) -> Kernel | None:
    """Return the kernel that was built instead of the default series, which had no source."""
    memory = cache.read_json(_memory())
    names = [candidate.name for candidate in known.series]
    if not memory or memory.get("default") != known.default or memory.get("series") not in names:
        return None
    found = carry.current(known.find(str(memory["series"])), known)
    return replace(found, instead_of=known.default) if found else None


def _first(known: Catalog) -> Kernel | None:
    """Return the variant of the default series that `make run` builds first, as it takes less time."""
    if _FIRST not in known.variants(known.default):
        return None
    found = carry.current(known.find(f"{known.default}{VARIANT}{_FIRST}"), known)
    return replace(found, instead_of=known.default) if found else None


def _memory() -> Path:
    return cache.home() / "default.json"


def _path(wanted: str, known: Catalog) -> Path | None:
    """Return `wanted` as a path, or None for a series. Raises InputError if it is neither."""
    if known.knows(wanted):
        known.find(wanted)
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
