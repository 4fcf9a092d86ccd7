"""A target of the trial: its recommendations, on scenarios that have another filesystem."""

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
from wblab.study.designs.atlas.target import Row, Target, code_of, on_filesystem, sha256
from wblab.study.designs.paired.asked import ASKED
from wblab.study.designs.paired.plan import RECOMMENDATION, SCENARIO, scenario_spec, trial_matrix
from wblab.study.designs.paired.recommendations import (
    DEFAULT,
    WISDOM,
    Expectation,
    Recommendation,
    Scenario,
    Value,
    Wisdom,
    read_wisdom,
)
from wblab.study.designs.paired.report import write_report
from wblab.study.designs.paired.result import Result
from wblab.study.designs.paired.run import result_of, run_rounds
from wblab.study.designs.paired.verdict import NOTICED_S
from wblab.study.designs.paired.words import Row as Found
from wblab.study.designs.paired.words import worst_text
from wblab.study.plan import Plan
from wblab.study.store import Store, clear_failed

_JUDGES = ("analysis", "report", "study/designs/paired")
_PRESETS: Filesystem = "ext4"  # which the scenarios have; a stick keeps its own
_NOTHING = f"nothing to shorten: with the default nobody waits for over {NOTICED_S} s"

Unfit = Mapping[tuple[str, str], str]  # why a value, by scenario and key, cannot be tried


@dataclass(frozen=True)
class Tryable:
    """What such a target needs: a trial of what can be tried; what cannot, and why. wisdom: with its scenarios."""

    target: Target
    kernel: Kernel
    wisdom: Wisdom
    plan: Plan
    unfit: Unfit
    made_of: str

    def fill(self, directory: Path, at_once: int) -> Sequence[Row]:
        """Make the runs that are missing, and the report: see Plan. One that fails is an answer too."""
        if not self.wisdom.scenario:
            return rows_of([], self.wisdom, self.unfit)
        if (directory / STUDY_FILE).is_file():
            store = Store.open(directory)
        else:
            kernels = {self.target.series: self.kernel.describe()}
            store = Store.begin(directory, self.plan, kernels, {TRIED: WISDOM.read_bytes()})
        with store.held():
            clear_failed(store)
            run_rounds(store, self.wisdom, None, at_once, lambda left_open: None)
            result: Result = replace(result_of(store, self.wisdom), filesystem=self.target.filesystem)
            write_report(result, directory)
        return rows_of(result.rows, self.wisdom, self.unfit)

    def prune(self, directory: Path) -> None:
        """Leave of each run its record: see Plan. With it `wblab run` makes it again; its figures are in the table."""
        for path in (directory / RUNS).glob("*/*"):
            if path.name != EXPERIMENT:
                path.unlink()


def planned(target: Target, seeds: int, resolve: KernelResolver) -> Tryable:
    """Return what a target needs. Raises InputError for a kernel that is not there."""
    kernel, wisdom = resolve(target.series), _on_scenarios(read_wisdom(), target.filesystem)
    matrix, unfit = _fit(trial_matrix(wisdom, seeds, target.series), resolve)
    there = {cell.levels[SCENARIO] for cell in matrix.cells}
    wisdom = replace(wisdom, scenario={name: scenario for name, scenario in wisdom.scenario.items() if name in there})
    told = [kernel.build_id, program_sha256(interpreter()), code_of(*_JUDGES), sha256(WISDOM.read_bytes()), seeds]
    specs = [to_table(cell.spec) for cell in matrix.cells]
    made_of = sha256(json.dumps([*told, [*unfit.items()], specs]).encode())
    return Tryable(target, kernel, wisdom, matrix, unfit, made_of)


def rows_of(found: Sequence[Found], wisdom: Wisdom, unfit: Unfit) -> list[Row]:
    """Return a row for each expectation of each value, also where it could not be looked at."""
    looked = {(row.key, row.expectation.says): row for row in found}
    return [
        _row(
            key,
            entry,
            value,
            expectation,
            looked.get((key, expectation.says)),
            _reasons(key, expectation, unfit),
        )
        for key, (entry, value) in wisdom.values().items()
        for expectation in entry.expectation
        if not expectation.of or value.name in expectation.of
    ]


def _fit(matrix: Plan, resolve: KernelResolver) -> tuple[Plan, Unfit]:
    """Return what of a matrix can be run, and why the rest cannot. Where the default cannot, nothing can."""
    cells, unfit = [], {}
    for cell in matrix.cells:
        scenario, key = str(cell.levels[SCENARIO]), str(cell.levels[RECOMMENDATION])
        try:
            ready(cell.spec, resolve)
        except InputError as error:
            unfit[scenario, key] = str(error)
        if (scenario, key) not in unfit and (scenario, DEFAULT) in unfit:
            unfit[scenario, key] = unfit[scenario, DEFAULT]
        if (scenario, key) not in unfit:
            cells.append(cell)
    return replace(matrix, cells=tuple(cells)), unfit


def _row(  # noqa: PLR0913, PLR0917 - what a row is about
    key: str,
    entry: Recommendation,
    value: Value,
    expectation: Expectation,
    found: Found | None,
    reasons: Mapping[str, str],
) -> Row:
    tried = [one for one in found.looked if not (one.tried.refused or one.tried.failed)] if found else []
    if found and tried:
        verdict, why = str(found.outcome), f"{worst_text(found)}; reproduced in {found.counts} places"
    else:
        verdict = NOT_TESTABLE
        why = worst_text(found) if found else next(iter(reasons.values()), _NOTHING)
    if found and reasons:
        why += f"; not on {', '.join(reasons)}: {next(iter(reasons.values()))}"
    link = f"{REPORT}#recommendation-{key}" if found else ""
    return Row(key, f"{entry.who}: {value.name}", expectation.says, verdict, why, link)


def _reasons(key: str, expectation: Expectation, unfit: Unfit) -> dict[str, str]:
    """Return why an expectation of a value cannot be looked at, by scenario."""
    return {
        scenario: reason
        for (scenario, one), reason in unfit.items()
        if one == key and scenario != ASKED and (not expectation.on or scenario in expectation.on)
    }


def _on_scenarios(wisdom: Wisdom, filesystem: Filesystem) -> Wisdom:
    """Return what is tried, on this filesystem: it is on the scenarios before anything is recommended."""
    scenarios = {name: _on_scenario(scenario, filesystem) for name, scenario in wisdom.scenario.items()}
    return replace(wisdom, scenario=scenarios)


def _on_scenario(scenario: Scenario, filesystem: Filesystem) -> Scenario:
    spec = scenario_spec(scenario)
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
    return replace(scenario, set=(*scenario.set, *settings))
