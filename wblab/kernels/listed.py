"""All kernels that the lab knows, for `wblab kernel list` and for studies on all of them."""

from dataclasses import dataclass

from wblab.kernels import carry, catalog, places, series
from wblab.kernels.catalog import Catalog, Series
from wblab.kernels.kernel import Kernel
from wblab.kernels.pins import Pin
from wblab.lab.kernelname import VARIANT


@dataclass(frozen=True)
class Listed:
    """One series of the catalog, as `wblab kernel list` shows it."""

    series: str
    default: bool
    kernel: Kernel | None  # None: not built with today's patches and configuration
    patches: tuple[str, ...]
    variants: dict[str, Kernel | None]  # the kernel with one variant, by its name
    configured: dict[str, Kernel]  # those built with options of a user's own, by their whole names
    pin: Pin | None
    source: str  # of the pin, in words; "" without a pin
    package: str  # what the package wblab-kernel has to do with it, in words; "" nothing


def list_kernels() -> list[Listed]:
    """Return all series that the lab knows, newest first. Build and fetch nothing."""
    known = catalog.load()
    return [_listed(entry, known) for entry in known.series]


def _listed(entry: Series, known: Catalog) -> Listed:
    kernel = carry.current(entry, known)
    return Listed(
        series=entry.name,
        default=entry.name == known.default,
        kernel=kernel,
        patches=tuple(patch.name for patch in known.patches(entry.name)),
        variants={
            variant: carry.current(known.find(f"{entry.name}{VARIANT}{variant}"), known)
            for variant in known.variants(entry.name)
        },
        configured=series.with_options(entry, known),
        pin=known.pins.get(entry.name),
        source=places.source_of(known.pins[entry.name], entry).description if entry.name in known.pins else "",
        package=carry.describe(kernel, entry, known),
    )
