"""A square of the trial: its recommendations, on grounds that have another filesystem."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from wblab.analysis.statistics.outcome import NOT_TESTABLE
from wblab.core.errors import InputError
from wblab.core.spec import Filesystem
from wblab.core.tables import to_table
from wblab.host.bundle import program_sha256
from wblab.host.command import interpreter
from wblab.host.request import ready
from wblab.kernels import Kernel, KernelResolver
from wblab.lab.formats import EXPERIMENT, REPORT, RUNS, STUDY_FILE, TRIED
from wblab.study.designs.atlas.square import Row, Square, code_of, on_filesystem, sha256
from wblab.study.designs.paired.advice import DEFAULT, WISDOM, Advice, Ground, Promise, Value, Wisdom, read_wisdom
from wblab.study.designs.paired.asked import ASKED
from wblab.study.designs.paired.plan import ADVICE, GROUND, ground_spec, trial_matrix
from wblab.study.designs.paired.report import write_report
from wblab.study.designs.paired.result import Result
from wblab.study.designs.paired.run import result_of, run_rounds
from wblab.study.designs.paired.verdict import NOTICED_S
from wblab.study.designs.paired.words import Row as Found
from wblab.study.designs.paired.words import worst_text
from wblab.study.plan import Plan
from wblab.study.store import Store, clear_failed

_JUDGES = ("analysis", "report", "study/designs/paired")
_PRESETS: Filesystem = "ext4"  # which the grounds have; a stick keeps its own
_NOTHING = f"nothing to shorten: with the default nobody waits for over {NOTICED_S} s"

Unfit = Mapping[tuple[str, str], str]  # why a value, by ground and key, cannot be tried


@dataclass(frozen=True)
class Tryable:
    """What such a square needs: a trial of what can be tried; what cannot, and why. wisdom: with its grounds."""

    square: Square
    kernel: Kernel
    wisdom: Wisdom
    plan: Plan
    unfit: Unfit
    made_of: str

    def fill(self, directory: Path, at_once: int) -> Sequence[Row]:
        """Make the runs that are missing, and the report: see Plan. One that fails is an answer too."""
        if not self.wisdom.ground:
            return rows_of([], self.wisdom, self.unfit)
        if (directory / STUDY_FILE).is_file():
            store = Store.open(directory)
        else:
            kernels = {self.square.series: self.kernel.describe()}
            store = Store.begin(directory, self.plan, kernels, {TRIED: WISDOM.read_bytes()})
        with store.held():
            clear_failed(store)
            run_rounds(store, self.wisdom, None, at_once, lambda left_open: None)
            result: Result = replace(result_of(store, self.wisdom), filesystem=self.square.filesystem)
            write_report(result, directory)
        return rows_of(result.rows, self.wisdom, self.unfit)

    def prune(self, directory: Path) -> None:
        """Leave of each run its record: see Plan. With it `wblab run` makes it again; its figures are in the table."""
        for path in (directory / RUNS).glob("*/*"):
            if path.name != EXPERIMENT:
                path.unlink()


def planned(square: Square, seeds: int, resolve: KernelResolver) -> Tryable:
    """Return what a square needs. Raises InputError for a kernel that is not there."""
    kernel, wisdom = resolve(square.series), _on_grounds(read_wisdom(), square.filesystem)
    matrix, unfit = _fit(trial_matrix(wisdom, seeds, square.series), resolve)
    there = {cell.levels[GROUND] for cell in matrix.cells}
    wisdom = replace(wisdom, ground={name: ground for name, ground in wisdom.ground.items() if name in there})
    told = [kernel.build_id, program_sha256(interpreter()), code_of(*_JUDGES), sha256(WISDOM.read_bytes()), seeds]
    specs = [to_table(cell.spec) for cell in matrix.cells]
    made_of = sha256(json.dumps([*told, [*unfit.items()], specs]).encode())
    return Tryable(square, kernel, wisdom, matrix, unfit, made_of)


def rows_of(found: Sequence[Found], wisdom: Wisdom, unfit: Unfit) -> list[Row]:
    """Return a row for each promise of each value, also where it could not be looked at."""
    looked = {(row.key, row.promise.says): row for row in found}
    return [
        _row(key, advice, value, promise, looked.get((key, promise.says)), _reasons(key, promise, unfit))
        for key, (advice, value) in wisdom.values().items()
        for promise in advice.promise
        if not promise.of or value.name in promise.of
    ]


def _fit(matrix: Plan, resolve: KernelResolver) -> tuple[Plan, Unfit]:
    """Return what of a matrix can be run, and why the rest cannot. Where the default cannot, nothing can."""
    cells, unfit = [], {}
    for cell in matrix.cells:
        ground, key = str(cell.levels[GROUND]), str(cell.levels[ADVICE])
        try:
            ready(cell.spec, resolve)
        except InputError as error:
            unfit[ground, key] = str(error)
        if (ground, key) not in unfit and (ground, DEFAULT) in unfit:
            unfit[ground, key] = unfit[ground, DEFAULT]
        if (ground, key) not in unfit:
            cells.append(cell)
    return replace(matrix, cells=tuple(cells)), unfit


def _row(  # noqa: PLR0913, PLR0917 - what a row is about
    key: str, advice: Advice, value: Value, promise: Promise, found: Found | None, reasons: Mapping[str, str]
) -> Row:
    tried = [one for one in found.looked if not (one.tried.refused or one.tried.failed)] if found else []
    if found and tried:
        verdict, why = str(found.outcome), f"{worst_text(found)}; reproduced in {found.counts} places"
    else:
        verdict = NOT_TESTABLE
        why = worst_text(found) if found else next(iter(reasons.values()), _NOTHING)
    if found and reasons:
        why += f"; not on {', '.join(reasons)}: {next(iter(reasons.values()))}"
    link = f"{REPORT}#advice-{key}" if found else ""
    return Row(key, f"{advice.who}: {value.name}", promise.says, verdict, why, link)


def _reasons(key: str, promise: Promise, unfit: Unfit) -> dict[str, str]:
    """Return why a promise of a value cannot be looked at, by ground."""
    return {
        ground: reason
        for (ground, one), reason in unfit.items()
        if one == key and ground != ASKED and (not promise.on or ground in promise.on)
    }


def _on_grounds(wisdom: Wisdom, filesystem: Filesystem) -> Wisdom:
    """Return what is tried, on this filesystem: it is on the grounds before anything is recommended."""
    grounds = {name: _on_ground(ground, filesystem) for name, ground in wisdom.ground.items()}
    return replace(wisdom, ground=grounds)


def _on_ground(ground: Ground, filesystem: Filesystem) -> Ground:
    spec = ground_spec(ground)
    settings = []
    for name, disk in on_filesystem(spec, filesystem, _PRESETS).disk.items():
        if disk != spec.disk[name]:
            place = spec.disk_key(name)
            settings += [
                f'{place}.filesystem="{disk.filesystem}"',
                f"{place}.size={disk.size}",
                f"{place}.mkfs_options={json.dumps(disk.mkfs_options)}",
                f"{place}.mount_options={json.dumps(disk.mount_options)}",
            ]
    return replace(ground, set=(*ground.set, *settings))
