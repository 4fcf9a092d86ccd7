"""A target of the trial: its recommendations, with its scenarios on another filesystem."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from wblab.analysis.statistics.decision import NOT_TESTABLE
from wblab.claims.atlas.content import made_of, opened, prune_runs, sha256
from wblab.claims.atlas.target import AtlasRow, Target, on_filesystem
from wblab.claims.trial.plan import ASKED, RECOMMENDATION, SCENARIO, scenario_spec, trial_matrix
from wblab.claims.trial.recommendations import (
    DEFAULT,
    WISDOM,
    Expectation,
    Recommendation,
    Scenario,
    Value,
    Wisdom,
    read_wisdom,
)
from wblab.claims.trial.report import worst_text, write_report
from wblab.claims.trial.result import ExpectationRow, TrialResult
from wblab.claims.trial.run import question, result_of
from wblab.claims.trial.verdict import NOTICED_S
from wblab.core.errors import InputError
from wblab.core.spec import Filesystem, Spec
from wblab.core.tables import to_table
from wblab.host.request import ready
from wblab.kernels import Kernel, KernelResolver
from wblab.lab.formats import EXPERIMENT, REPORT, TRIED
from wblab.study.decided import run_until_decided
from wblab.study.plan import Plan
from wblab.study.run import run_store
from wblab.study.store import Store

_JUDGES = ("analysis", "report", "claims/trial")
_PRESETS: Filesystem = "ext4"  # of the scenarios; a memory stick keeps its own
_NOTHING = f"nothing to shorten: with the default no pause exceeds {NOTICED_S} s"

Prepare = Callable[[Spec, KernelResolver], object]
Unfit = Mapping[tuple[str, str], str]  # reason why a value cannot be tried, by scenario and key


def _run(store: Store, wisdom: Wisdom, at_once: int) -> None:
    run_until_decided(store, question(store, wisdom), partial(run_store, store, None, at_once), lambda left_open: None)


@dataclass(frozen=True)
class Tryable:
    """A trial of the values that are possible here; the others with the reason. wisdom: only the possible scenarios."""

    target: Target
    kernel: Kernel
    wisdom: Wisdom
    plan: Plan
    unfit: Unfit
    made_of: str
    recommendations: Path  # their file

    def fill(
        self,
        directory: Path,
        at_once: int,
        run: Callable[[Store, Wisdom, int], object] = _run,
        judge: Callable[[Store, Wisdom], TrialResult] = result_of,
    ) -> Sequence[AtlasRow]:
        """Make the missing runs, and the report: see Planned. A run that fails is a result, too.

        run: makes runs of a store, so many at once. judge: looks at them.
        """
        if not self.wisdom.scenario:
            return rows_of([], self.wisdom, self.unfit)
        with opened(
            directory, self.target, self.kernel, self.plan, {TRIED: self.recommendations.read_bytes()}
        ) as store:
            run(store, self.wisdom, at_once)
            result: TrialResult = replace(judge(store, self.wisdom), filesystem=self.target.filesystem)
            write_report(result, directory)
        return rows_of(result.rows, self.wisdom, self.unfit)

    def prune(self, directory: Path) -> None:
        """Keep only each run's record, from which `wblab run` repeats it: see Planned. The table has its figures."""
        prune_runs(directory, lambda name: name == EXPERIMENT)


def planned(
    target: Target, seeds: int, resolve: KernelResolver, prepare: Prepare = ready, recommendations: Path = WISDOM
) -> Tryable:
    """Return the plan of a target. Raises InputError if its kernel is not built.

    prepare: raises InputError for a spec that cannot run here. recommendations: the file with them.
    """
    kernel, wisdom = resolve(target.series), _on_scenarios(read_wisdom(recommendations), target.filesystem)
    matrix, unfit = _fit(trial_matrix(wisdom, seeds, target.series), resolve, prepare)
    there = {cell.levels[SCENARIO] for cell in matrix.cells}
    wisdom = replace(wisdom, scenario={name: scenario for name, scenario in wisdom.scenario.items() if name in there})
    specs = [to_table(cell.spec) for cell in matrix.cells]
    digest = made_of(kernel, _JUDGES, sha256(recommendations.read_bytes()), seeds, [*unfit.items()], specs)
    return Tryable(target, kernel, wisdom, matrix, unfit, digest, recommendations)


def rows_of(found: Sequence[ExpectationRow], wisdom: Wisdom, unfit: Unfit) -> list[AtlasRow]:
    """Return a row for each expectation of each value, whether it could be tested or not."""
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


def _fit(matrix: Plan, resolve: KernelResolver, prepare: Prepare) -> tuple[Plan, Unfit]:
    """Return the cells that can run, and the reason for each other one. A scenario needs its default."""
    cells, unfit = [], {}
    for cell in matrix.cells:
        scenario, key = str(cell.levels[SCENARIO]), str(cell.levels[RECOMMENDATION])
        try:
            prepare(cell.spec, resolve)
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
    found: ExpectationRow | None,
    reasons: Mapping[str, str],
) -> AtlasRow:
    went = [one for one in found.looked if not (one.tried.refused or one.tried.failed)] if found else []
    tried = [one for one in went if one.kept.figure]
    figure = seeds = ""
    if found and tried:
        verdict, why, figure = str(found.outcome), f"reproduced in {found.counts} scenarios", worst_text(found)
        seeds = str(min(one.kept.figure.interval.runs for one in tried if one.kept.figure))
    else:
        verdict = NOT_TESTABLE
        why = worst_text(found) if found else next(iter(reasons.values()), _NOTHING)
    if found and reasons:
        why += f"; not on {', '.join(reasons)}: {next(iter(reasons.values()))}"
    link = f"{REPORT}#recommendation-{key}" if found else ""
    return AtlasRow(key, f"{entry.who}: {value.name}", expectation.says, verdict, why, link, figure, seeds)


def _reasons(key: str, expectation: Expectation, unfit: Unfit) -> dict[str, str]:
    """Return the reason why an expectation of a value cannot be tested, by scenario."""
    return {
        scenario: reason
        for (scenario, one), reason in unfit.items()
        if one == key and scenario != ASKED and (not expectation.on or scenario in expectation.on)
    }


def _on_scenarios(wisdom: Wisdom, filesystem: Filesystem) -> Wisdom:
    """Return folk wisdom whose scenarios are on this filesystem; recommendations are applied on top."""
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
