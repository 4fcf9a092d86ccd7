"""What was confirmed outside of User Mode Linux, in words for those who are about to set something."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from wblab.kernels.stock.kernel import is_stock, parse
from wblab.study.designs.witness.kept import Seen, about

_NOTHING = "Nothing of this kind was tried outside of User Mode Linux"


def confirmed(keys: Iterable[str]) -> list[str]:
    """Return what stock kernels did with settings of these kinds, such as nr_requests or vm.dirty_bytes."""
    found = dict(_tried(keys))
    if not found:
        return [f"{_NOTHING}."]
    return ["Tried outside of User Mode Linux:", *(f"- {text}: {_held_where(*of)}." for text, of in found.items())]


def shortly(keys: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the same in a line, and in one what nobody tried. keys: of settings, by the name of what sets them."""
    tried = {name: dict(_tried(of)) for name, of in keys.items()}
    found = {text: of for each in tried.values() for text, of in each.items()}
    lines = []
    if found:
        usual = next(iter(found.values()))[1]
        said = [f"{text}: {held}{'' if where == usual else f' {where}'}" for text, (held, where) in found.items()]
        lines.append(f"Tried outside of User Mode Linux, {usual}: {'; '.join(said)}.")
    untried = [name for name, of in tried.items() if not of]
    return lines + ([f"{_NOTHING}: {', '.join(untried)}."] if untried else [])


def _tried(keys: Iterable[str]) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield statements on settings of these kinds, each with in which runs it holds, and where."""
    for kind in dict.fromkeys(key.rpartition(".")[2] for key in keys):
        for statement, seen in about(kind):
            if (one := _stock(seen)) is not None:
                yield statement.text, one


def _stock(seen: Sequence[Seen]) -> tuple[str, str] | None:
    """Return in which runs on stock kernels a statement holds, and on which, with how many processors."""
    stock = [one for one in seen if is_stock(one.substrate)]
    if not stock:
        return None
    processors = " and ".join(str(parse(one.substrate)[1]) for one in stock)
    where = f"on Linux {stock[0].release} in QEMU with {processors} processor{'s' * (processors != '1')}"
    held = {one.holds for one in stock}
    if len(held) == 1:
        return held.pop(), where
    return ", ".join(f"{one.holds} with {parse(one.substrate)[1]}" for one in stock), where


def _held_where(held: str, where: str) -> str:
    return f"{held} ({where})" if " with " in held else f"{held} {where}"
