"""Substrates: where a spec can run. A name is that of a kernel, with /real for the host's clock.

A kernel without virtual time has the host's clock in any case, and so has this machine itself: live:DIR.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from wblab.core.errors import InputError
from wblab.core.spec import Clock, Spec
from wblab.host.place import place_named
from wblab.kernels import KernelResolver, full_name, has_virtual_time, processors_of
from wblab.kernels.here import is_here
from wblab.kernels.stock.stockkernel import is_stock, parse
from wblab.study.cells import Cell
from wblab.substrates.qemu.command import in_bytes

_REAL = "/real"
AXIS = "substrate"


@dataclass(frozen=True)
class Substrate:
    """One place: its name as the user gives it, the kernel in its one spelling, and whether the clock is the host's."""

    name: str
    kernel: str
    real: bool

    @property
    def processors(self) -> int:
        """How many it has."""
        return processors_of(self.kernel)

    @property
    def words(self) -> str:
        """What it is, in a line."""
        many = "1 processor" if self.processors == 1 else f"{self.processors} processors"
        clock = "the host's clock" if self.real else "virtual time"
        driver = parse(self.kernel).driver if is_stock(self.kernel) else ""
        disks = f", disks by its driver {driver}" if driver else ""
        return f"{place_named(self.kernel).words}{disks}, {many}, {clock}"

    def settled(self, resolve: KernelResolver) -> "Substrate":
        """Return it with the clock that its kernel can have. Raises InputError for a kernel that is not here."""
        return replace(self, real=self.real or not has_virtual_time(resolve(self.kernel)))


def substrate(name: str) -> Substrate:
    """Return the substrate that a name means. Raises InputError."""
    if is_here(name):
        return Substrate(name, full_name(name), real=True)
    kernel, real = name.removesuffix(_REAL), name.endswith(_REAL)
    if not kernel:
        raise InputError(f"--on {name!r}: name a kernel, such as 7.2 or stock:7.2@4, and /real for the host's clock")
    if is_stock(kernel):
        meant = parse(kernel)
        kernel, real = str(meant), real or bool(meant.driver)  # QEMU's disks have the host's clock
    return Substrate(name, full_name(kernel), real)


def cells(spec: Spec, on: Sequence[Substrate], resolve: KernelResolver) -> tuple[Cell, ...]:
    """Return the cells of a study, one for each substrate: the same loads with the same limits.

    Limits are in bytes, as the disks of a stock kernel take the guest's memory. Nothing is recorded. Raises InputError.
    """
    _check_distinct(on)
    for each in on:
        place_named(each.kernel).check_spec(spec, each.kernel)
    same = replace(in_bytes(spec), trace=replace(spec.trace, events=(), filters={}, triggers={}))
    settled = [each.settled(resolve) for each in on]
    _check_distinct(settled)
    return tuple(_cell(same, number, each) for number, each in enumerate(settled))


def _check_distinct(on: Sequence[Substrate]) -> None:
    if len({(each.kernel, each.real) for each in on}) < len(on):
        raise InputError("--on: a kernel is given twice: its runs would be identical")


def label(on: Substrate) -> str:
    """Return the name of a substrate as a part of a file's name."""
    return re.sub("[^A-Za-z0-9.]+", "-", on.name).strip("-")


def _cell(spec: Spec, number: int, on: Substrate) -> Cell:
    clock = replace(spec.clock, mode="real") if on.real else Clock(syscall_cost=spec.clock.syscall_cost)
    moved = replace(spec, clock=clock, kernel=replace(spec.kernel, name=on.kernel))
    return Cell(f"{number}-{label(on)}"[:40].rstrip("-."), {AXIS: on.name}, moved)
