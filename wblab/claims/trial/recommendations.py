"""Recommendations as data: their source, settings, machine and expected effect."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Literal

from wblab.core.check import DIRTY_SYSCTLS, check_name
from wblab.core.errors import InputError, nearest
from wblab.core.tables import from_table
from wblab.core.units import Bytes, BytesPerSecond, Nanoseconds, parse_bytes
from wblab.lab.places import TRIALS
from wblab.lab.specfile import read_toml

WISDOM = TRIALS / "folk-wisdom.toml"
DEFAULT = "default"  # instead of a recommendation: nothing is set
UNSET = Nanoseconds(-1)

Role = Literal["innocent", "committer", "reader", "offender"]
Law = Literal["", "background"]
# From the table; the rate until all data is on the disk; from the trace.
# fmt: off
Metric = Literal[
    "longest_pause_s", "paused_s", "cycle_p99_s", "throughput_bps", "unplug_s",
    "copied_bps",
    "asked_sleep_s", "longest_sleep_s", "periodic_writebacks",
]
# fmt: on


@dataclass(frozen=True, kw_only=True)
class AssumedMachine:
    """The machine that a recommendation is for: its memory and the rate of its disk."""

    memory: Bytes
    write_bps: BytesPerSecond


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """A preset with changes, on which recommendations are tried.

    title: in a few words. disk: the offender's, which limits of a single disk apply to. loads: by role. set: as in
    `wblab run --set`. only: numbers of the recommendations to try here (default: all).
    """

    base: str
    title: str
    about: str
    disk: str
    loads: dict[str, tuple[str, ...]]
    set: tuple[str, ...] = ()
    only: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Value:
    """The settings of a recommendation. sysctl: as published, in the published order.

    bdi: of the offender's disk; values of keys in _bytes may have a unit. mount, queue: of all disks. set: as in `wblab
    run --set`. scenarios: where to try it (default: all).
    """

    name: str
    sysctl: dict[str, int | str] = field(default_factory=dict)
    bdi: dict[str, int | str] = field(default_factory=dict)
    mount: tuple[str, ...] = ()
    queue: dict[str, int | str] = field(default_factory=dict)
    set: tuple[str, ...] = ()
    scenarios: tuple[str, ...] = ()

    @property
    def is_setting(self) -> bool:
        """Whether it changes a setting; otherwise it describes the kernel's own behaviour."""
        return bool(self.sysctl or self.bdi or self.mount or self.queue)


@dataclass(frozen=True, kw_only=True)
class Expectation:
    """The expected effect as a condition on a metric of the loads with a role.

    One of these is the condition. percent: of the default's metric, as an upper limit, or as a lower one if more is
    better. at_most: an upper limit; of counts, a number. law: the time that the disk needs for the background
    threshold. on: the scenarios (default: all with the role). of: the values, by name (default: all). against: another
    value to compare with instead of the default.
    """

    says: str
    role: Role
    metric: Metric
    percent: int = 0
    at_most: Nanoseconds = UNSET
    law: Law = ""
    on: tuple[str, ...] = ()
    of: tuple[str, ...] = ()
    against: str = ""


@dataclass(frozen=True, kw_only=True)
class Recommendation:
    """One recommendation. says: its effect in the words of its source. value: one, or several alternatives.

    memory, write_bps: of the machine that it is for, if the source names it. contradicts: numbers of others. note: for
    the reader. untested: the part that the lab cannot test.
    """

    number: int
    who: str
    source: str
    says: str
    value: tuple[Value, ...]
    expectation: tuple[Expectation, ...]
    memory: Bytes = Bytes(0)
    write_bps: BytesPerSecond = BytesPerSecond(0)
    contradicts: tuple[int, ...] = ()
    note: str = ""
    untested: str = ""

    def key(self, value: Value) -> str:
        """Return the key of a value: 7, or 7a, 7b, ..."""
        place = self.value.index(value)
        return str(self.number) if len(self.value) == 1 else f"{self.number}{chr(ord('a') + place)}"


@dataclass(frozen=True, kw_only=True)
class Wisdom:
    """All recommendations, their scenarios, and the machine of recommendations that name none.

    keys: of the values to try (default: all).
    """

    machine: AssumedMachine
    scenario: dict[str, Scenario]
    recommendation: tuple[Recommendation, ...]
    keys: tuple[str, ...] = ()

    def values(self) -> dict[str, tuple[Recommendation, Value]]:
        """Return all values by key, in order."""
        every = {entry.key(value): (entry, value) for entry in self.recommendation for value in entry.value}
        return {key: found for key, found in every.items() if not self.keys or key in self.keys}

    def machine_of(self, entry: Recommendation) -> AssumedMachine:
        """Return the machine that a recommendation is for."""
        return AssumedMachine(
            memory=entry.memory or self.machine.memory,
            write_bps=entry.write_bps or self.machine.write_bps,
        )

    def scenarios_of(self, entry: Recommendation, value: Value) -> list[str]:
        """Return the scenarios of a value."""
        return [
            name
            for name, scenario in self.scenario.items()
            if (not value.scenarios or name in value.scenarios) and (not scenario.only or entry.number in scenario.only)
        ]

    def only(self, wanted: Sequence[str]) -> "Wisdom":
        """Return some of the recommendations (default: all). Raises InputError.

        wanted: numbers, or keys of single values, such as 21e. Values that these are compared with are included.
        """
        if not wanted:
            return self
        keys: dict[str, None] = {}
        for name in wanted:
            found = [key for key, (entry, _) in self.values().items() if name in (key, str(entry.number))]
            if not found:
                known = [entry.number for entry in self.recommendation]
                raise InputError(
                    f"no recommendation {name}: wblab study folk-wisdom --list has {min(known)} to {max(known)}"
                )
            keys |= dict.fromkeys([*found, *(other for key in found for other in self._compared(key))])
        numbers = {entry.number for key, (entry, _) in self.values().items() if key in keys}
        chosen = tuple(entry for entry in self.recommendation if entry.number in numbers)
        return Wisdom(machine=self.machine, scenario=self.scenario, recommendation=chosen, keys=tuple(keys))

    def _compared(self, key: str) -> list[str]:
        """Return the keys of the values that a value's expectations compare it with."""
        entry, value = self.values()[key]
        names = {
            expectation.against
            for expectation in entry.expectation
            if not expectation.of or value.name in expectation.of
        }
        return [entry.key(other) for other in entry.value if other.name in names]


def read_wisdom(path: Path = WISDOM) -> Wisdom:
    """Read a file of recommendations. Raises InputError."""
    table = read_toml(path, "recommendations")
    try:
        wisdom = from_table(Wisdom, table)
        _check(wisdom)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    return wisdom


def _check(wisdom: Wisdom) -> None:
    if not (wisdom.machine.memory and wisdom.machine.write_bps):
        raise InputError("machine: give its memory and write_bps")
    if not wisdom.scenario or not wisdom.recommendation:
        raise InputError("give at least one table [scenario.NAME] and one [[recommendation]]")
    for name, scenario in wisdom.scenario.items():
        check_name(name, "scenario")
        if not scenario.loads.get("innocent") or not scenario.loads.get("offender"):
            raise InputError(f"scenario.{name}.loads: name the loads of the roles innocent and offender")
        if unknown := set(scenario.only) - {entry.number for entry in wisdom.recommendation}:
            raise InputError(f"scenario.{name}.only: no recommendation {min(unknown)}")
    for before, entry in pairwise(wisdom.recommendation):
        if entry.number <= before.number:
            raise InputError(
                f"recommendation {entry.number} follows {before.number}: give recommendations ascending numbers"
            )
    for entry in wisdom.recommendation:
        _check_recommendation(entry, wisdom)


def _check_recommendation(entry: Recommendation, wisdom: Wisdom) -> None:
    where, names = f"recommendation {entry.number}", [value.name for value in entry.value]
    if not entry.value or not entry.expectation:
        raise InputError(f"{where}: give at least one value and one expectation")
    if unknown := set(entry.contradicts) - {other.number for other in wisdom.recommendation}:
        raise InputError(f"{where}: contradicts {min(unknown)}, which does not exist")
    if len(set(names)) < len(names):
        raise InputError(f"{where}: two values have the same name")
    for value in entry.value:
        _check_value(value, wisdom, f"{where}, value {value.name!r}")
    for expectation in entry.expectation:
        _check_expectation(expectation, names, wisdom, f"{where}, expectation {expectation.says!r}")


def _check_value(value: Value, wisdom: Wisdom, where: str) -> None:
    _check_named(value.scenarios, list(wisdom.scenario), "scenario", where)
    for key, number in {**value.sysctl, **value.bdi}.items():
        if key in value.sysctl and key not in DIRTY_SYSCTLS:
            raise InputError(f"{where}: unknown key {key!r}{nearest(key, DIRTY_SYSCTLS)}")
        if key.endswith("_bytes"):
            parse_bytes(number)
        elif isinstance(number, str):
            raise InputError(f"{where}: {key} must be a whole number, not {number!r}")


def _check_expectation(expectation: Expectation, names: list[str], wisdom: Wisdom, where: str) -> None:
    _check_named(expectation.on, list(wisdom.scenario), "scenario", where)
    _check_named((*expectation.of, *filter(None, [expectation.against])), names, "value", where)
    if bool(expectation.percent) + (expectation.at_most != UNSET) + bool(expectation.law) != 1:
        raise InputError(f"{where}: give one of percent, at_most and law")
    if expectation.percent < 0:
        raise InputError(f"{where}: percent must be above 0")
    for scenario in expectation.on:
        if expectation.role not in wisdom.scenario[scenario].loads:
            raise InputError(f"{where}: the scenario {scenario} has no {expectation.role}")


def _check_named(given: Sequence[str], known: list[str], what: str, where: str) -> None:
    for name in given:
        if name not in known:
            raise InputError(f"{where}: no {what} {name!r}{nearest(name, known)}: {', '.join(known)}")
