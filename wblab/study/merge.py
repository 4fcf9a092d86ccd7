"""Put the parts of a study together. Where two parts have the same run, its bytes are the same, or the merge fails."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, fields, replace
from pathlib import Path

from wblab.core.errors import InputError, WblabError
from wblab.core.files import read_bytes
from wblab.lab.designs import designs
from wblab.lab.progress import Report, silent
from wblab.study.inputs import different, reason
from wblab.study.made import Made, check_sealed, made_of
from wblab.study.plan import Plan
from wblab.study.store import Store, pack

_MOST_BESIDE_BYTES = 256 << 20


@dataclass(frozen=True)
class PartDifference:
    """A run that two parts have with different measurements. inputs: in what they differ, by name."""

    run: str
    first: Path
    second: Path
    inputs: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.run} of {self.first} is not that of {self.second}: {reason(self.inputs)}"


class DifferError(WblabError):
    """Parts have the same runs with different measurements."""

    def __init__(self, differences: Sequence[PartDifference], compared: int) -> None:
        super().__init__(f"{len(differences)} of {compared} runs that several parts have differ: nothing was merged")
        self.differences = differences


def merge(paths: Sequence[Path], results: Path, report: Report = silent) -> Store:
    """Put parts together in a new directory, which is returned. The parts stay as they are.

    Raises InputError for parts of different studies, and DifferError.
    """
    with ExitStack() as stack:
        first, *others = dict.fromkeys(path.resolve() for path in paths)
        parts = [whole := Store.open(first), *(Store.open_part(path, whole) for path in others)]
        plan, beside = _common(parts)
        for part in parts:
            stack.enter_context(part.locked())
        for part in parts:
            check_sealed(part)
        runs = dict(_once(parts, report))
        merged = Store.create(results, plan, parts[0].kernels, beside)
        with merged.held():
            _fill(merged, runs, report)
        return merged


def _common(parts: Sequence[Store]) -> tuple[Plan, dict[str, bytes]]:
    """Return the plan that all parts share, and the files beside it. Raises InputError if they share none."""
    first = parts[0]
    plan = replace(first.plan, shard=None)
    design = designs()[plan.design]
    if not design.parts:
        raise InputError(f"{first.path}: a {design.noun} has no parts")
    for other in parts[1:]:
        if what := _unequal(plan, replace(other.plan, shard=None)):
            raise InputError(f"{other.path} is no part of the same study as {first.path}: they differ in {what}")
        for name, kernel in first.kernels.items():
            if other.kernels.get(name, {}).get("build_id") != kernel["build_id"]:
                raise InputError(
                    f"{other.path} was made with another build of the kernel {name or kernel.get('series', '')} than "
                    f"{first.path}: take one along (wblab kernel pack), and make that part again"
                )
        if _beside(other) != _beside(first):
            raise InputError(f"{other.path} is no part of the same study as {first.path}: their designs differ")
    return plan, _beside(first)


def _unequal(first: Plan, second: Plan) -> str:
    """Return in what two plans differ, in words."""
    return ", ".join(each.name for each in fields(Plan) if getattr(first, each.name) != getattr(second, each.name))


def _beside(part: Store) -> dict[str, bytes]:
    """Return the files of designs that a part has beside study.json, by name."""
    names = {name for design in designs().values() for name in design.beside}
    return {name: read_bytes(part.path / name, _MOST_BESIDE_BYTES) for name in names if (part.path / name).is_file()}


def _once(parts: Sequence[Store], report: Report) -> Iterator[tuple[str, Made]]:
    """Yield each run that a part has, once. Raises DifferError if parts have different ones."""
    known, compared, differences = dict[str, Made](), set[str](), list[PartDifference]()
    for place, part in enumerate(parts):
        report(place / len(parts), f"reading {part.path.name}")
        for made in made_of(part):
            first = known.setdefault(made.name, made)
            if first is made:
                continue
            compared.add(made.name)
            if first.digest != made.digest:
                inputs = different(first.made_with, made.made_with)
                differences.append(PartDifference(made.name, first.store.path, made.store.path, tuple(inputs)))
    if differences:
        raise DifferError(differences, len(compared))
    yield from known.items()


def _fill(merged: Store, runs: Mapping[str, Made], report: Report) -> None:
    for place, (name, made) in enumerate(runs.items()):
        report(place / len(runs), name)
        if made.directory:
            try:
                kept = merged.keep(made.cell, made.seed, pack(made.directory))
            except WblabError as error:
                reason = (
                    str(error)
                    .replace("the worker ran a different", "it has another")
                    .replace("the worker sent", "it has")
                )
                study = made.store.path
                raise InputError(f"{name} of {study} cannot be merged: {reason.partition(':')[0]}") from None
            merged.name(made.cell, made.seed, kept)
    merged.rows.write([made.row for made in runs.values()])
