"""Substrates: where a spec can run. A name is that of a kernel, with /real for the host's clock."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from wblab.core.errors import InputError
from wblab.core.spec import Clock, Spec
from wblab.host.translate import check, in_bytes
from wblab.kernels import full_name
from wblab.kernels.stock.kernel import PREFIX, is_stock, parse
from wblab.study.cells import Cell

_REAL = "/real"
AXIS = "substrate"


@dataclass(frozen=True)
class Substrate:
    """One place: its name as the user gives it, the kernel, and the clock."""

    name: str
    kernel: str
    real: bool

    @property
    def words(self) -> str:
        """What it is, in a line."""
        clock = "the host's clock" if self.real else "virtual time"
        if not is_stock(self.kernel):
            return f"User Mode Linux, 1 processor, {clock}"
        processors = parse(self.kernel)[1]
        many = "1 processor" if processors == 1 else f"{processors} processors"
        return f"a distribution's kernel in QEMU, {many}, {clock}"


def substrate(name: str) -> Substrate:
    """Return the substrate that a name means. Raises InputError."""
    kernel = name.removesuffix(_REAL)
    if not kernel:
        raise InputError(f"--on {name!r}: name a kernel, such as 7.2 or stock:7.2@4, and /real for the host's clock")
    if is_stock(kernel):
        which, processors = parse(kernel)
        kernel = f"{PREFIX}{which}" if processors == 1 else kernel
    return Substrate(name, kernel, kernel != name and name.endswith(_REAL))


def cells(spec: Spec, on: Sequence[Substrate]) -> tuple[Cell, ...]:
    """Return the cells of a study, one for each substrate: the same loads with the same limits.

    Limits are in bytes, as the disks of a stock kernel take the guest's memory. Nothing is recorded. Raises InputError.
    """
    if any(is_stock(each.kernel) for each in on):
        check(spec)
    same = replace(in_bytes(spec), trace=replace(spec.trace, events=(), filters={}, triggers={}))
    return tuple(_cell(same, number, each) for number, each in enumerate(on))


def _cell(spec: Spec, number: int, on: Substrate) -> Cell:
    label = re.sub("[^A-Za-z0-9.]+", "-", on.name).strip("-")
    clock = replace(spec.clock, mode="real") if on.real else Clock(syscall_cost=spec.clock.syscall_cost)
    moved = replace(spec, clock=clock, kernel=replace(spec.kernel, name=full_name(on.kernel)))
    return Cell(f"{number}-{label}"[:40].rstrip("-."), {AXIS: on.name}, moved)
