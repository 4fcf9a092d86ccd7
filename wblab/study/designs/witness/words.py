"""What was confirmed outside of User Mode Linux, in words for those who are about to set something."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from wblab.kernels.stock.kernel import is_stock, parse
from wblab.lab.places import OUTSIDE as KEPT
from wblab.study.designs.witness.kept import Seen, about

OUTSIDE = "Tried outside of User Mode Linux"
NOTHING = "Nothing of this kind was tried outside of User Mode Linux."


def tried_outside(keys: Iterable[str], folder: Path = KEPT) -> list[str]:
    """Return what stock kernels did with settings of these kinds, such as nr_requests or vm.dirty_bytes.

    folder: with what was tried.
    """
    kinds = dict.fromkeys(key.rpartition(".")[2] for key in keys)
    tried = (pair for kind in kinds for pair in about(kind, folder))
    found = {statement.text: one for statement, seen in tried if (one := _stock(seen)) is not None}
    return [f"{text}: {one}." for text, one in found.items()]


def confirmed(keys: Iterable[str], folder: Path = KEPT) -> list[str]:
    """Return the same as lines, or that nothing was tried."""
    found = tried_outside(keys, folder)
    return [f"{OUTSIDE}:", *(f"- {said}" for said in found)] if found else [NOTHING]


def _stock(seen: Sequence[Seen]) -> str | None:
    """Return in which runs on stock kernels a statement holds, and with how many processors."""
    stock = [one for one in seen if is_stock(one.substrate)]
    if not stock:
        return None
    processors = " and ".join(str(parse(one.substrate)[1]) for one in stock)
    where = f"on Linux {stock[0].release} in QEMU with {processors} processor{'s' * (processors != '1')}"
    held = {one.holds for one in stock}
    if len(held) == 1:
        return f"{held.pop()} {where}"
    return ", ".join(f"{one.holds} with {parse(one.substrate)[1]}" for one in stock) + f" ({where})"
