"""Read and check a design's file: the factors, the number of runs, and the responses.

base = "base-device"               # a preset, a TOML file or a run directory
runs = 1024                        # rows of the sample
seed = 1                           # of the sample; `seeds` as in a matrix: the seeds of each row's runs
strength = 1                       # 2: also balance pairs of factors; runs must then be the square of a prime
[set]                              # for all rows
"trace.events" = []
[factors.limit]                    # a range: low, high, and optionally scale = "log", step, key
key = "sysctl.vm.dirty_bytes"
low = "1MiB"
high = "32MiB"
scale = "log"
step = "4KiB"
[factors.share]                    # a range without a key is used only in [derived]
low = 0.1
high = 0.9
[factors."disk.scheduler"]         # levels of one key: a name with a dot is the key to set
levels = ["none", "bfq"]
[factors.filesystem.levels]        # named levels, each with several keys
ext4 = { "disk.filesystem" = "ext4" }
xfs = { "disk.filesystem" = "xfs", "disk.size" = "300MiB" }
[derived]                          # keys computed from factors, in bytes, bytes/s and ns
"sysctl.vm.dirty_background_bytes" = "limit * share"
[responses.longest_pause]          # see responses.py; default: tails of the innocent loads, and throughput
metric = "longest_pause_s"
of = "innocent"
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wblab.core.check import check_name
from wblab.core.errors import InputError, nearest
from wblab.core.tables import from_table
from wblab.lab.specfile import read_toml
from wblab.study.cells import label
from wblab.study.designs.explore import factors as arithmetic
from wblab.study.designs.explore.factors import Factor, FactorRange, Level, Levels, parse_number
from wblab.study.designs.explore.responses import AskedResponse, read_responses
from wblab.study.plan import MAX_RUNS, seeds_of

DUMMY = "dummy"  # a column of every sample that sets nothing: its effect shows what is chance
_RANGE = ("key", "low", "high", "scale", "step")
_LEVELS = ("key", "levels", "ordered")
_MOST_LEVELS = 1000


@dataclass(frozen=True, kw_only=True)
class Head:
    """The top-level keys of a design's file."""

    name: str
    base: str
    runs: int
    seed: int = 1
    strength: int = 1
    seeds: tuple[int, ...] = (1,)


@dataclass(frozen=True, kw_only=True)
class SampleDesign:
    """A design as its file defines it. common, derived: settings by key of a spec."""

    head: Head
    common: dict[str, Any]
    factors: tuple[Factor, ...]
    derived: dict[str, str]
    responses: tuple[AskedResponse, ...]


def read_design(path: Path, seeds: int | None = None) -> SampleDesign:
    """Read the design in a file. Raises InputError. Errors in single rows are found later, when their specs are made.

    seeds: run each row with the seeds 1 to this number instead of those in the file.
    """
    table = read_toml(path, "design")
    table.setdefault("name", path.stem)
    if seeds is not None:
        table["seeds"] = seeds
    try:
        return design_of(table)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def design_of(table: Mapping[str, Any]) -> SampleDesign:
    """Read the design in a table. Raises InputError."""
    given = dict(table)
    common, derived = (_table(given.pop(key, {}), key) for key in ("set", "derived"))
    factors = tuple(_factor(name, value) for name, value in _table(given.pop("factors", {}), "factors").items())
    responses = read_responses(given.pop("responses", {}))
    given["seeds"] = seeds_of(given.get("seeds", 1))
    head = from_table(Head, given)
    _check_head(head)
    if not factors:
        raise InputError("factors: none given: add at least one [factors.NAME]")
    _check_derived(derived, factors)
    return SampleDesign(head=head, common=common, factors=factors, derived=derived, responses=responses)


def _table(value: object, where: str) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise InputError(f"{where} must be a table, not {value!r}")
    return dict(value)


def _check_head(head: Head) -> None:
    check_name(head.name, "name")
    if not 2 <= head.runs <= MAX_RUNS // max(1, len(head.seeds)):
        raise InputError(f"runs: {head.runs} is not between 2 and {MAX_RUNS // max(1, len(head.seeds))}")
    if not head.seeds or len(set(head.seeds)) < len(head.seeds) or not all(0 <= seed < 2**63 for seed in head.seeds):
        raise InputError("seeds: give each once, between 0 and 2^63 - 1")
    if head.seed < 0:
        raise InputError(f"seed: {head.seed} is negative")
    if head.strength not in (1, 2):
        raise InputError(f"strength: {head.strength} is not 1 or 2")


def _check_derived(derived: Mapping[str, Any], factors: tuple[Factor, ...]) -> None:
    used = set()
    for key, expression in derived.items():
        if not isinstance(expression, str):
            raise InputError(f"derived.{key} must be a text such as 'limit * share', not {expression!r}")
        try:
            used |= (found := arithmetic.names(expression))
        except InputError as error:
            raise InputError(f"derived.{key}: {error}") from None
        known = [factor.name for factor in factors]
        for name in sorted(found.difference(known)):
            raise InputError(f"derived.{key}: no factor {name!r}{nearest(name, known)}: {', '.join(known)}")
    for factor in factors:
        sets = bool(factor.key) if isinstance(factor, FactorRange) else any(level.settings for level in factor.levels)
        if not sets and factor.name not in used:
            raise InputError(f"factors.{factor.name} sets nothing: give it a key, or use it in [derived]")


def _factor(name: str, value: object) -> Factor:
    where = f"factors.{name}"
    if name == DUMMY:
        raise InputError(f"{where}: this name is reserved for a factor that sets nothing: choose another name")
    table = _table(value, where)
    known = _LEVELS if "levels" in table else _RANGE
    for key in table:
        if key not in known:
            raise InputError(f"unknown key '{where}.{key}'{nearest(key, known)}: a factor has {', '.join(known)}")
    key = table.get("key", name if "." in name else "")
    if not isinstance(key, str):
        raise InputError(f"{where}.key must be a key of a spec, not {key!r}")
    return _levels(name, key, table) if "levels" in table else _range(name, key, table)


def _range(name: str, key: str, table: Mapping[str, Any]) -> FactorRange:
    where = f"factors.{name}"
    for needed in ("low", "high"):
        if needed not in table:
            raise InputError(f"{where}.{needed!s} is missing: give low and high, or levels")
    low, unit = parse_number(table["low"], f"{where}.low")
    high, high_unit = parse_number(table["high"], f"{where}.high")
    scale = table.get("scale", "linear")
    whole = isinstance(low, int) and isinstance(high, int)
    step, step_unit = parse_number(table.get("step", 1 if whole else 0), f"{where}.step")
    if high_unit != unit or ("step" in table and step_unit not in ("", unit)):
        raise InputError(f"{where}: low, high and step must have the same unit")
    if scale not in ("linear", "log"):
        raise InputError(f"{where}.scale: {scale!r} is not one of linear, log")
    if high <= low or step < 0 or step > high - low:
        raise InputError(
            f"{where}: no range from {table['low']} to {table['high']} in this step: raise high or lower the step"
        )
    if scale == "log" and low <= 0:
        raise InputError(f"{where}.low: {table['low']} has no logarithm: raise it above 0, or set scale = 'linear'")
    if key and not (whole and float(step).is_integer() and step):
        raise InputError(f"{where}: keys of a spec are whole numbers: give whole low, high and step")
    return FactorRange(name=name, key=key, low=low, high=high, scale=scale, unit=unit, step=step)


def _levels(name: str, key: str, table: Mapping[str, Any]) -> Levels:
    where, given = f"factors.{name}", table["levels"]
    ordered = table.get("ordered", False)
    if not isinstance(ordered, bool):
        raise InputError(f"{where}.ordered must be true or false, not {ordered!r}")
    if isinstance(given, Mapping):
        if "key" in table:
            raise InputError(f"{where}.key: its named levels set their own keys: leave it out")
        levels = tuple(
            Level(label_, _table(settings, f"{where}.levels.{label_}")) for label_, settings in given.items()
        )
    elif isinstance(given, list):
        numbers = [_number(value) for value in given]
        ordered = table.get("ordered", all(number is not None for number in numbers))
        levels = tuple(
            Level(label(value), {key: value} if key else {}, number)
            for value, number in zip(given, numbers, strict=True)
        )
    else:
        raise InputError(f"{where}.levels must be a list of values or a table of named levels, not {given!r}")
    if not 2 <= len(levels) <= _MOST_LEVELS or len({level.label for level in levels}) < len(levels):
        raise InputError(f"{where}.levels: give between 2 and {_MOST_LEVELS}, each once")
    return Levels(name=name, levels=levels, ordered=ordered)


def _number(value: object) -> float | int | None:
    try:
        return parse_number(value, "")[0]
    except InputError:
        return None
