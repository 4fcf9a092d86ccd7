"""A stock kernel that was taken into the cache, by its name: stock:7.2, or stock:7.2@4 with four processors.

stock:7.2+sata@4 has its disks by one of the kernel's own drivers.
"""

import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from functools import cache as once
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from wblab.core.errors import InputError
from wblab.kernels.kernel import Kernel
from wblab.kernels.stock.drivers import MODULES_OF
from wblab.lab import cache
from wblab.lab.kernelname import VARIANT, ordinal, with_processors

PREFIX = "stock:"
MOST_PROCESSORS = 64
_NUL = "\0"
_NAME = re.compile(r"stock:(?P<which>[A-Za-z0-9][A-Za-z0-9._~+-]*)(?:@(?P<processors>[1-9][0-9]?))?")
_SERIES = re.compile(r"\d+\.\d+")
_WORD = re.compile(r"[a-z-]+")  # as drivers are named; what a distribution adds to a release has digits
IMAGE, MODULES, IDENTITY, CONFIG, NAMES = "vmlinuz", "modules", "stock.json", "config", "names.txt"


class StockName(NamedTuple):
    """What a name means: which kernel, a series or a release; on how many processors; and the driver of its disks.

    driver: "" for disks in its memory, by null_blk.
    """

    which: str
    processors: int
    driver: str = ""

    def __str__(self) -> str:
        """Return the name, in its one spelling."""
        return with_processors(f"{PREFIX}{self.which}{VARIANT * bool(self.driver)}{self.driver}", self.processors)


@dataclass(frozen=True)
class StockKernel(Kernel):
    """A kernel of a distribution, with its modules, as it runs on some number of processors.

    driver: of its disks, "" for null_blk. drivers: those that it has.
    """

    place: ClassVar[str] = "qemu"

    modules: Path = Path()
    driver: str = ""
    drivers: tuple[str, ...] = ()

    @property
    def virtual_time(self) -> bool:
        """Whether the emulator's time can be that of instructions; the rates of its own disks are the host's."""
        return not self.driver

    def describe(self) -> dict[str, Any]:
        """Return what an experiment records."""
        unsaid = ("modules", "drivers") if self.driver else ("modules", "drivers", "driver")
        return {key: value for key, value in super().describe().items() if key not in unsaid}

    def held(self, texts: Iterable[str]) -> set[str]:
        """Return which texts are names in the kernel, such as those of events.

        A linker keeps a text that is the end of another only once: syscalls in raw_syscalls.
        """
        there = _names(self.path.with_name(NAMES))
        return {text for text in texts if f"{text.strip(_NUL)}\n" in there}


@once
def _names(path: Path) -> str:
    """Return the names, each before the end of its line."""
    try:
        return f"{path.read_text()}\n"
    except OSError:
        return ""


def is_stock(name: str) -> bool:
    """Whether a kernel's name is that of a stock kernel."""
    return name.startswith(PREFIX)


def parse(name: str) -> StockName:
    """Return what a name means. Raises InputError."""
    found = _NAME.fullmatch(name)
    processors = int(found["processors"] or 1) if found else 0
    if not found or not 1 <= processors <= MOST_PROCESSORS:
        raise InputError(f"no stock kernel {name!r}: write stock:7.2, or stock:7.2@4 for four processors")
    which, _, last = found["which"].rpartition(VARIANT)
    if last in MODULES_OF and which:
        return StockName(which, processors, last)
    if _SERIES.fullmatch(which) and _WORD.fullmatch(last):
        raise InputError(f"no driver {last!r} for {PREFIX}{which}: give {', '.join(MODULES_OF)}")
    return StockName(found["which"], processors)


def find(name: str) -> StockKernel | None:
    """Return the newest stock kernel in the cache that a name means, a series or a release. Raises InputError.

    Of those with one release, as somebody's own builds have, it is the one that was taken last.
    """
    which, processors, driver = parse(name)
    found = [kernel for kernel in stock_kernels() if which in (kernel.series, kernel.release)]
    newest = max(found, key=lambda kernel: (ordinal(kernel.release), _taken_ns(kernel)), default=None)
    if newest and driver and driver not in newest.drivers:
        again = f"take it again with 'wblab kernel build --stock {newest.series} --refresh'"
        raise InputError(f"the kernel {newest.release} is here without the driver {driver}: {again}")
    return replace(newest, processors=processors, driver=driver) if newest else None


def stock_kernels() -> list[StockKernel]:
    """Return all stock kernels in the cache. Raises WblabError if other users may write to it."""
    cache.check_own()
    folders = sorted((cache.home() / "stock").glob(f"[!.]*/{IDENTITY}"))
    return [kernel for folder in folders if (kernel := _load(folder.parent))]


def _taken_ns(kernel: StockKernel) -> int:
    return kernel.path.with_name(IDENTITY).stat().st_mtime_ns


def how_to_get(name: str) -> str:
    """Return the command that takes a stock kernel into the cache: a series is fetched, a release is a file's."""
    which = parse(name).which
    is_series = _SERIES.fullmatch(which)
    return shlex.join(["wblab", "kernel", "build", "--stock", which if is_series else f"/boot/vmlinuz-{which}"])


def _load(folder: Path) -> StockKernel | None:
    identity = cache.read_json(folder / IDENTITY)
    known = {field.name for field in fields(Kernel)} - {"path", "config", "patches", "processors"}
    if not identity or not known - {"instead_of"} <= identity.keys():
        return None
    if not all((folder / name).exists() for name in (IMAGE, MODULES, NAMES)):
        return None
    config = folder / CONFIG
    values = {key: identity[key] for key in known & identity.keys()}
    return StockKernel(
        path=folder / IMAGE,
        config=config if config.is_file() else None,
        patches=(),
        modules=folder / MODULES,
        drivers=tuple(identity.get("drivers", ())),  # none of a kernel that was taken before it could have them
        **values,
    )
