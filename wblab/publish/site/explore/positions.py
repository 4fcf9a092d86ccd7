"""A matrix as knobs: what each position of them showed, as compact data that a page and a file have alike.

A position is one run: of each load when it was at work and when it was frozen, the sentence of `wblab why`, the digest
of what was measured, and the settings that make the same run of a preset. Times are in hundredths of a second since
the loads started: a page shows no more.
"""

import json
import shlex
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from wblab.analysis.runs.lanes import Lane as Load
from wblab.analysis.runs.lanes import lanes_of
from wblab.analysis.runs.pagecache import page_cache
from wblab.analysis.runs.pauses import DEFAULT_BOUND_NS
from wblab.analysis.runs.run import Run, read_run
from wblab.analysis.why.explanations import explanations_of
from wblab.analysis.why.recorded import explains
from wblab.core import rundir
from wblab.core.errors import InputError
from wblab.core.spec import Spec
from wblab.core.units import NS_PER_S
from wblab.lab.formats import Format
from wblab.lab.places import MEASURED
from wblab.lab.printable import printable
from wblab.lab.progress import Report
from wblab.lab.results import SPECS
from wblab.lab.specfile import read_spec, spec_toml
from wblab.report.whyanswer import sentence
from wblab.report.whycause import groups
from wblab.study.cells import Cell
from wblab.study.made import Made, made_of
from wblab.study.store import Store

KEPT = MEASURED / "knobs.json"  # the positions that the lab comes with: of `wblab study knobs`
_KEPT = Format("the positions of knobs", 1, ("knobs",), most_bytes=4 << 20)
_UNIT_NS = NS_PER_S // 100
_LEAST_NS = NS_PER_S // 10  # shorter pauses are not drawn
_MOST_CAUSES = 2  # whose sentences are kept, of each run
_MOST_KNOBS, _MOST_POSITIONS = 6, 1000


@dataclass(frozen=True)
class Knob:
    """An axis of a matrix. levels: what it can be set to. settings: KEY=VALUE that each level sets beside the first."""

    name: str
    levels: tuple[str, ...]
    settings: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Lane:
    """A load of all positions. role: innocent, offender or control. kind, idle_s: what it does, and how often."""

    name: str
    role: str
    kind: str
    idle_s: float


@dataclass(frozen=True)
class Position:
    """One run. at: the level of each knob. works: from when to when each load ran, in units of 10 ms.

    frozen: of each load but offenders, start and length of each span, flat. longest_s: the longest of an innocent
    load, 0 if none was frozen. sentences: of `wblab why`, a cause each, the most important first.
    """

    at: tuple[int, ...]
    longest_s: float
    sentences: tuple[str, ...]
    digest: str
    works: tuple[tuple[int, ...], ...]
    frozen: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Explored:
    """All positions of some knobs. preset, settings: what every run was made of. kernel, build: of the guests.

    duration_s: the length of a lane.
    """

    preset: str
    settings: tuple[str, ...]
    kernel: str
    build: str
    duration_s: float
    knobs: tuple[Knob, ...]
    lanes: tuple[Lane, ...]
    positions: tuple[Position, ...]

    def line(self, position: Position) -> str:
        """Return the command that makes a position's run anew."""
        own = [one for knob, level in zip(self.knobs, position.at, strict=True) for one in knob.settings[level]]
        return f"wblab run {self.preset} " + " ".join(f"--set {shlex.quote(one)}" for one in (*self.settings, *own))

    def to_text(self) -> str:
        """Return it as the text of a JSON file, a line for each position."""
        head = _KEPT.head() | {key: value for key, value in asdict(self).items() if key != "positions"}
        lines = ",\n".join(json.dumps(asdict(one), ensure_ascii=False) for one in self.positions)
        return f'{json.dumps(head, ensure_ascii=False)[:-1]},\n"positions": [\n{lines}\n]}}\n'


def kept(path: Path = KEPT) -> Explored:
    """Return the positions in a file. Raises InputError."""
    content = _KEPT.read(path)
    try:
        return Explored(
            **{key: content[key] for key in ("preset", "kernel", "build", "duration_s")},
            settings=tuple(content["settings"]),
            knobs=tuple(
                Knob(one["name"], tuple(one["levels"]), tuple(map(tuple, one["settings"]))) for one in content["knobs"]
            ),
            lanes=tuple(Lane(**one) for one in content["lanes"]),
            positions=tuple(map(_position_of, content["positions"])),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path} is damaged ({type(error).__name__}: {error})") from None


def _position_of(value: Mapping[str, Any]) -> Position:
    nested = {key: tuple(map(tuple, value[key])) for key in ("works", "frozen")}
    flat = {key: tuple(value[key]) for key in ("at", "sentences")}
    return Position(**{**value, **nested, **flat})


def explored(store: Store, report: Report) -> Explored:
    """Return the positions of a matrix, the first seed of each cell. Raises InputError for a study that has not all.

    report: is told of each run.
    """
    knobs = tuple(_knobs(store))
    made = {one.cell.name: one for one in reversed(list(made_of(store)))}
    _check(store, knobs, made)
    runs = len(made)
    first = made[store.plan.cells[0].name]
    kernel = store.kernels[first.cell.spec.kernel.build]
    positions, lanes, end_ns = [], tuple[Lane, ...](), 0
    for at, cell in enumerate(store.plan.cells):
        report(at / runs, f"{store.plan.name}: {cell.name}")
        directory = made[cell.name].directory
        assert directory is not None
        run = read_run(directory)
        shown = _shown(run)
        lanes = lanes or tuple(_lane(run, lane) for lane in shown)
        end_ns = max(end_ns, *(lane.end_ns for lane in shown))
        place = tuple(knob.levels.index(str(cell.levels[knob.name])) for knob in knobs)
        positions.append(_position(run, shown, place, made[cell.name].digest))
    preset = _preset(store.plan.cells[0].spec)
    base = read_spec(SPECS.find(preset))
    settings = _settings(base, first.cell.spec)
    release, build = (str(kernel.get(key, "unknown")) for key in ("release", "build_id"))
    return Explored(preset, settings, release, build, end_ns / NS_PER_S, knobs, lanes, tuple(positions))


def _knobs(store: Store) -> Iterator[Knob]:
    """Yield the axes that have several levels. What a level sets is read from the cells that differ in it alone."""
    cells = store.plan.cells
    start = {axis: str(level) for axis, level in cells[0].levels.items()}
    for axis in start:
        levels = list(dict.fromkeys(str(cell.levels[axis]) for cell in cells))
        if len(levels) > 1:
            alone = {str(cell.levels[axis]): cell for cell in cells if _others(cell, axis, start)}
            if len(alone) < len(levels):
                raise InputError(f"{store.path}: not every level of {axis} was combined with all others: name a matrix")
            yield Knob(axis, tuple(levels), tuple(_settings(cells[0].spec, alone[level].spec) for level in levels))


def _others(cell: Cell, axis: str, start: Mapping[str, str]) -> bool:
    return all(str(level) == start[other] for other, level in cell.levels.items() if other != axis)


def _check(store: Store, knobs: Sequence[Knob], made: Mapping[str, Made]) -> None:
    """Raise InputError unless a page can show the study."""
    positions = len(store.plan.cells)
    if not 1 <= len(knobs) <= _MOST_KNOBS or positions > _MOST_POSITIONS:
        raise InputError(
            f"--explore {store.path}: a page has 1 to {_MOST_KNOBS} knobs and at most {_MOST_POSITIONS} positions, "
            f"this study {len(knobs)} and {positions}: name a smaller matrix"
        )
    if any(made.get(cell.name) is None for cell in store.plan.cells):
        lacking = next(cell.name for cell in store.plan.cells if cell.name not in made)
        raise InputError(f"--explore {store.path}: {lacking} has no run: wblab study --resume {store.path}")
    if any(one.directory is None for one in made.values()):
        raise InputError(f"--explore {store.path}: it kept no traces, so nothing says why: make it with --keep traces")


def _shown(run: Run) -> list[Load]:
    """Return the lanes that are drawn: not those of loads that are there only to end the run, and hardly work."""
    found = lanes_of(run, bound_ns=_LEAST_NS).lanes
    return [lane for lane in found if lane.role != "offender" or lane.end_ns - lane.start_ns > _LEAST_NS]


def _lane(run: Run, lane: Load) -> Lane:
    load = run.load(lane.name).load
    return Lane(lane.name, lane.role, load.kind, load.idle_ns(1) / NS_PER_S)


def _position(run: Run, shown: Sequence[Load], at: tuple[int, ...], digest: str) -> Position:
    spans = [[(start_ns, end_ns - start_ns) for start_ns, end_ns in lane.frozen_ns] for lane in shown]
    return Position(
        at,
        max((lane.longest_ns for lane in shown if lane.role == "innocent"), default=0) / NS_PER_S,
        _sentences(run),
        digest,
        tuple((_units(lane.start_ns), _units(lane.end_ns)) for lane in shown),
        tuple(tuple(map(_units, chain.from_iterable(each))) for each in spans),
    )


def _units(time_ns: int) -> int:
    return round(time_ns / _UNIT_NS)


def _sentences(run: Run) -> tuple[str, ...]:
    """Return why a run was paused, a cause each; nothing if it did not record that."""
    if not (run.path / rundir.TRACE).is_file() or not explains(cache := page_cache(run)):
        return ()
    found = groups(item.explanation for item in explanations_of(run, [""], DEFAULT_BOUND_NS, cache))
    return tuple(printable(sentence(group, run.kinds)) for group in found[:_MOST_CAUSES])


# What the runs were made of.

_SYSCTL = "sysctl."
_ONLY_DISK = "disk.disk."  # a preset of one disk names none


def _preset(spec: Spec) -> str:
    """Return the preset that differs least from a spec."""
    return min(SPECS.names(), key=lambda name: len(_settings(read_spec(SPECS.find(name)), spec)))


def _settings(base: Spec, spec: Spec) -> tuple[str, ...]:
    """Return KEY=VALUE for each key that a spec has and its base has not so; what it lacks is set to 0."""
    before, after = (dict(_flat(tomllib.loads(spec_toml(one)))) for one in (base, spec))
    lacking = {key: "0" for key in before if key not in after and key.startswith(_SYSCTL)}
    return tuple(
        f"{key.replace(_ONLY_DISK, 'disk.', 1) if key.startswith(_ONLY_DISK) else key}={value}"
        for key, value in {**lacking, **after}.items()
        if before.get(key) != value and key not in ("name", "seed")
    )


def _flat(table: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, str]]:
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{path}{key}.")
        else:
            yield f"{path}{key}", ",".join(map(str, value)) if isinstance(value, list) else str(value).replace(" ", "")
