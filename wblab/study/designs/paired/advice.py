"""Recommendations as data: who says what is to be set, for which machine, and what that is to bring."""

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
from wblab.lab.tomlfile import read_toml

WISDOM = TRIALS / "folk-wisdom.toml"
DEFAULT = "default"  # in place of an advice: nothing is set
UNSET = Nanoseconds(-1)

Role = Literal["innocent", "committer", "reader", "offender"]
Law = Literal["", "background"]
# Those of a matrix's table; what was copied until the disk had it; and what only a trace tells.
# fmt: off
Metric = Literal[
    "longest_pause_s", "paused_s", "cycle_p99_s", "throughput_bps", "unplug_s",
    "copied_bps",
    "asked_sleep_s", "longest_sleep_s", "periodic_writebacks",
]
# fmt: on


@dataclass(frozen=True, kw_only=True)
class Machine:
    """What a recommendation was made for: its memory, and what its disk writes."""

    memory: Bytes
    write_bps: BytesPerSecond


@dataclass(frozen=True, kw_only=True)
class Ground:
    """Where all is tried: a preset, with changes, and whose loads are what.

    title: in a few words. disk: the one that the offender writes to; limits of a single disk are for it. loads: by
    their roles. set: as `wblab run --set` takes it. only: numbers of the recommendations that are tried here; all,
    where none is named.
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
    """What is set. sysctl: as its source has it, in the order in which it has it.

    bdi: of the offender's disk; what ends in _bytes may have a unit. mount, queue: of all disks. set: as `wblab run
    --set` takes it. grounds: where it is tried; all, where none is named.
    """

    name: str
    sysctl: dict[str, int | str] = field(default_factory=dict)
    bdi: dict[str, int | str] = field(default_factory=dict)
    mount: tuple[str, ...] = ()
    queue: dict[str, int | str] = field(default_factory=dict)
    set: tuple[str, ...] = ()
    grounds: tuple[str, ...] = ()

    @property
    def is_setting(self) -> bool:
        """Whether it sets anything on a machine; else it is what the kernel does of itself."""
        return bool(self.sysctl or self.bdi or self.mount or self.queue)


@dataclass(frozen=True, kw_only=True)
class Promise:
    """What somebody is to have of it, so that a machine can check it: a metric of those who have a role.

    One of these says when it is kept. percent: of what the default gives, at most, or at least where more is better.
    at_most: an absolute bound; of what is counted, a number. law: the background threshold's time on the disk.
    on: the grounds where it is looked at; all that have the role, where none is named. of: the values that promise it,
    by name; all, where none is named. against: another value takes the place of the default.
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
class Advice:
    """One recommendation. says: what it promises, in its own terms. value: one, or several ways of it.

    memory, write_bps: of the machine that it was made for, where the source says it. contradicts: numbers of others.
    note: what a reader should know. untested: what of it the lab cannot see.
    """

    number: int
    who: str
    source: str
    says: str
    value: tuple[Value, ...]
    promise: tuple[Promise, ...]
    memory: Bytes = Bytes(0)
    write_bps: BytesPerSecond = BytesPerSecond(0)
    contradicts: tuple[int, ...] = ()
    note: str = ""
    untested: str = ""

    def key(self, value: Value) -> str:
        """Return what a value is called on the axis of a matrix: 7, or 7a, 7b, ..."""
        place = self.value.index(value)
        return str(self.number) if len(self.value) == 1 else f"{self.number}{chr(ord('a') + place)}"


@dataclass(frozen=True, kw_only=True)
class Wisdom:
    """All recommendations, the grounds that they are tried on, and the machine of those whose source names none.

    keys: of the values that are tried; all, where none is named.
    """

    machine: Machine
    ground: dict[str, Ground]
    advice: tuple[Advice, ...]
    keys: tuple[str, ...] = ()

    def values(self) -> dict[str, tuple[Advice, Value]]:
        """Return all values by their keys, in their order."""
        every = {advice.key(value): (advice, value) for advice in self.advice for value in advice.value}
        return {key: found for key, found in every.items() if not self.keys or key in self.keys}

    def machine_of(self, advice: Advice) -> Machine:
        """Return the machine that a recommendation was made for."""
        return Machine(
            memory=advice.memory or self.machine.memory, write_bps=advice.write_bps or self.machine.write_bps
        )

    def grounds_of(self, advice: Advice, value: Value) -> list[str]:
        """Return where a value is tried."""
        return [
            name
            for name, ground in self.ground.items()
            if (not value.grounds or name in value.grounds) and (not ground.only or advice.number in ground.only)
        ]

    def only(self, wanted: Sequence[str]) -> "Wisdom":
        """Return what is to be tried of some recommendations; all, where none is named. Raises InputError.

        wanted: numbers, or keys of single values, such as 21e; values that these are compared with are tried as well.
        """
        if not wanted:
            return self
        keys: dict[str, None] = {}
        for name in wanted:
            found = [key for key, (advice, _) in self.values().items() if name in (key, str(advice.number))]
            if not found:
                known = [advice.number for advice in self.advice]
                raise InputError(f"no recommendation {name}: wblab trial --list has {min(known)} to {max(known)}")
            keys |= dict.fromkeys([*found, *(other for key in found for other in self._compared(key))])
        numbers = {advice.number for key, (advice, _) in self.values().items() if key in keys}
        chosen = tuple(advice for advice in self.advice if advice.number in numbers)
        return Wisdom(machine=self.machine, ground=self.ground, advice=chosen, keys=tuple(keys))

    def _compared(self, key: str) -> list[str]:
        """Return the keys of the values that a value's promises compare it with."""
        advice, value = self.values()[key]
        names = {promise.against for promise in advice.promise if not promise.of or value.name in promise.of}
        return [advice.key(other) for other in advice.value if other.name in names]


def read_wisdom(path: Path = WISDOM) -> Wisdom:
    """Return the recommendations in a file. Raises InputError for what is wrong with any."""
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
    if not wisdom.ground or not wisdom.advice:
        raise InputError("give at least one table [ground.NAME] and one [[advice]]")
    for name, ground in wisdom.ground.items():
        check_name(name, "ground")
        if not ground.loads.get("innocent") or not ground.loads.get("offender"):
            raise InputError(f"ground.{name}.loads: name the loads of the roles innocent and offender")
        if unknown := set(ground.only) - {advice.number for advice in wisdom.advice}:
            raise InputError(f"ground.{name}.only: no recommendation {min(unknown)}")
    for before, advice in pairwise(wisdom.advice):
        if advice.number <= before.number:
            raise InputError(f"advice {advice.number} stands behind advice {before.number}: number them in their order")
    for advice in wisdom.advice:
        _check_advice(advice, wisdom)


def _check_advice(advice: Advice, wisdom: Wisdom) -> None:
    where, names = f"advice {advice.number}", [value.name for value in advice.value]
    if not advice.value or not advice.promise:
        raise InputError(f"{where}: give at least one value and one promise")
    if unknown := set(advice.contradicts) - {other.number for other in wisdom.advice}:
        raise InputError(f"{where}: contradicts {min(unknown)}, which is not there")
    if len(set(names)) < len(names):
        raise InputError(f"{where}: two values of one name")
    for value in advice.value:
        _check_value(value, wisdom, f"{where}, value {value.name!r}")
    for promise in advice.promise:
        _check_promise(promise, names, wisdom, f"{where}, promise {promise.says!r}")


def _check_value(value: Value, wisdom: Wisdom, where: str) -> None:
    _check_named(value.grounds, list(wisdom.ground), "ground", where)
    for key, number in {**value.sysctl, **value.bdi}.items():
        if key in value.sysctl and key not in DIRTY_SYSCTLS:
            raise InputError(f"{where}: unknown key {key!r}{nearest(key, DIRTY_SYSCTLS)}")
        if key.endswith("_bytes"):
            parse_bytes(number)
        elif isinstance(number, str):
            raise InputError(f"{where}: {key} must be a whole number, not {number!r}")


def _check_promise(promise: Promise, names: list[str], wisdom: Wisdom, where: str) -> None:
    _check_named(promise.on, list(wisdom.ground), "ground", where)
    _check_named((*promise.of, *filter(None, [promise.against])), names, "value", where)
    if bool(promise.percent) + (promise.at_most != UNSET) + bool(promise.law) != 1:
        raise InputError(f"{where}: give one of percent, at_most and law")
    if promise.percent < 0:
        raise InputError(f"{where}: percent must be above 0")
    for ground in promise.on:
        if promise.role not in wisdom.ground[ground].loads:
            raise InputError(f"{where}: the ground {ground} has no {promise.role}")


def _check_named(given: Sequence[str], known: list[str], what: str, where: str) -> None:
    for name in given:
        if name not in known:
            raise InputError(f"{where}: no {what} {name!r}{nearest(name, known)}: {', '.join(known)}")
