"""The kernel of a series, built from the pinned source or, if that is no longer available, from another."""

import hashlib
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from wblab.core.errors import InputError, WblabError
from wblab.kernels import config, kernel, make, patches, pins, places
from wblab.kernels.build import Build, Say, result
from wblab.kernels.catalog import Catalog, Series
from wblab.kernels.identity import Identity, recipe
from wblab.kernels.kernel import Kernel
from wblab.kernels.pins import Pin
from wblab.lab import cache
from wblab.lab.kernelname import VARIANT, named, options_in
from wblab.lab.progress import Report


class NoSourceError(WblabError):
    """No place has a source of the series."""


def current(series: Series, known: Catalog) -> Kernel | None:
    """Return the kernel of a series with today's pin, patches and configuration, or None if it is not built.

    `instead_of` is the pinned source if the kernel was built from another one.
    """
    note = cache.read_json(_note(series, known, recipe(series.name, known).digest))
    found = kernel.load(cache.home() / "builds" / str(note.get("build"))) if note else None
    return replace(found, instead_of=note.get("instead_of")) if found and note else None


def build(series: Series, known: Catalog, report: Report, say: Say) -> Kernel:
    """Return the kernel of a series; fetch and build it if necessary.

    If the pinned source is not available, another one is used, and `say` gets the reason. The next build looks for the
    pinned one again. Raises NoSourceError if there is no source at all, WblabError as Build does.
    """
    found = current(series, known)
    if found and not found.instead_of:
        return found
    make.check_tools()
    pin = known.pins.get(series.plain)
    if pin is None:
        reasons = ["no source is pinned"]
    elif _build(pin, series, known).done() or not (reasons := places.fetch(pin, series, known, report)):
        return _run(_build(pin, series, known), series, known, report, say)
    pinned = places.source_of(pin, series).description if pin else f"a pinned source of {series.plain}"
    if found:
        say(f"{found.source} is used instead of {pinned}: {'; '.join(reasons)}")
        return found
    other = places.newest(series, known, report)
    reasons += other if isinstance(other, list) else places.fetch(other, series, known, report)
    if isinstance(other, list) or not places.source_of(other, series).is_here:
        raise NoSourceError("; ".join(reasons))
    say(f"{places.source_of(other, series).description} instead of {pinned}: {'; '.join(reasons)}")
    return _run(_build(other, series, known), series, known, report, say, instead_of=pinned)


def move_pin(series: Series, known: Catalog, report: Report, say: Say) -> Catalog:
    """Pin the newest available source of a series, and return the catalog with the new pin.

    Raises InputError if the file of the pins cannot be written, NoSourceError if no source is available.
    """
    pins.check_writable(known.pins_file)
    old, new = known.pins.get(series.plain), places.newest(series, known, report)
    if isinstance(new, list):
        raise NoSourceError("; ".join(new))
    what = places.source_of(new, series).description
    if new == old:
        say(f"{series.plain} is still pinned to {what}: there is nothing newer")
        return known
    moved = replace(known, pins={**known.pins, series.plain: new})
    pins.save(moved.pins_file, moved.pins)
    before = places.source_of(old, series).description if old else "nothing"
    say(f"{series.plain} is now pinned to {what}; before: {before}")
    return moved


def adopt(identity: Identity, known: Catalog) -> str | None:
    """Record a cached build as the kernel of its series, and return the name of that, such as 7.3+hz-1000.

    Return None and record nothing if this checkout has other patches, options or another source.
    """
    name = name_of(identity, known)
    if name is None:
        return None
    found = known.find(name)
    _keep_note(_note(found, known, recipe(name, known).digest), found, result(identity.build_id), None)
    return name


def name_of(identity: Identity, known: Catalog) -> str | None:
    """Return the name in this checkout of the kernel with this identity, such as 7.3+hz-1000.

    None: this checkout has other patches, options or another source.
    """
    pin = known.pins.get(identity.series)
    if pin is None or not known.knows(identity.series) or VARIANT in identity.series:
        return None
    plain = identity.series
    files = {name: known.variant(name, plain) for name in known.variants(plain)}
    variants = {patches.read(file).sha256: name for name, file in files.items() if file}
    further = identity.patches[len(known.patches(plain)) :]
    if not all(patch.sha256 in variants for patch in further):
        return None
    built = config.parse_allconfig(identity.options)
    configured = [name for name, file in files.items() if not file and _changes(name, known, plain) <= built.items()]
    name = VARIANT.join([plain, *(variants[patch.sha256] for patch in further), *configured])
    usual = config.parse_allconfig(config.allconfig(recipe(name, known).options))
    name = named(name, {option: value for option, value in built.items() if usual.get(option) != value})
    return name if recipe(name, known).key(pin.identity, identity.compiler) == identity.build_id else None


def with_options(series: Series, known: Catalog) -> dict[str, Kernel]:
    """Return the kernels of a series, and of its variants, that are built with options of their own, by name."""
    found = {}
    for path in sorted((cache.home() / "current").glob(f"{series.name}[-{VARIANT}]*.json")):
        name = str((cache.read_json(path) or {}).get("name", ""))
        with suppress(InputError):  # a variant that this checkout has not
            if options_in(name)[1] and known.knows(name) and (built := current(known.find(name), known)):
                found[name] = built
    return found


def _changes(variant: str, known: Catalog, plain: str) -> set[tuple[str, str]]:
    """Return the options that a variant changes."""
    options = config.requested(known.variant_fragments(f"{plain}{VARIANT}{variant}"))
    return set(config.parse_allconfig(config.allconfig(options)).items())


def _build(pin: Pin, series: Series, known: Catalog) -> Build:
    return Build(places.source_of(pin, series), recipe(series.name, known), make.compiler())


def _run(  # noqa: PLR0913 - one of them by name
    build_: Build, series: Series, known: Catalog, report: Report, say: Say, *, instead_of: str | None = None
) -> Kernel:
    """Build, and record the result for `current`."""
    note = _note(series, known, build_.recipe.digest)  # of what is built, should a patch change meanwhile
    built = build_.run(report, say)
    _keep_note(note, series, build_.result, instead_of)
    return replace(built, instead_of=instead_of)


def _keep_note(note: Path, series: Series, folder: Path, instead_of: str | None) -> None:
    cache.room("current")
    cache.write_json(note, {"build": folder.name, "instead_of": instead_of, "name": series.name})


def _note(series: Series, known: Catalog, recipes: str) -> Path:
    """Return the file that records the build of a series; other pins, patches and options have files of their own.

    recipes: the digest of patches and options.
    """
    pin = known.pins.get(series.plain)
    inputs = f"{pin.identity if pin else ''}\0{recipes}"
    plain, _ = options_in(series.name)
    return cache.home() / "current" / f"{plain}-{hashlib.sha256(inputs.encode()).hexdigest()[:16]}.json"
