"""The plan of a trial: a cell for each value, scaling and scenario, for each scenario's default, and to ask the kernel.

The axes are SCENARIO, RECOMMENDATION and SCALING. Every cell has every seed, but `rounds` may not run all of them.
"""

import copy
import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from wblab.claims.trial import NAME as _DESIGN
from wblab.claims.trial.recommendations import DEFAULT, AssumedMachine, Scenario, Value, Wisdom
from wblab.core.check import check_spec
from wblab.core.errors import InputError
from wblab.core.files import read_bytes
from wblab.core.rundir import agent_log
from wblab.core.spec import Spec
from wblab.core.tables import from_table
from wblab.core.units import BytesPerSecond, parse_bytes
from wblab.lab.printable import printable
from wblab.lab.results import SPECS
from wblab.lab.specfile import read_setting, read_table, set_key
from wblab.study.cells import Cell
from wblab.study.plan import Plan

# Scale a value from its machine to a guest: by seconds of the disk's work, or by share of memory.
#
# A writer waits for time: writing back the dirty limit takes limit / rate. The kernel's defaults are shares of memory.
# A
# value in bytes may mean either, and on another machine it can keep only one of the two.

Scaling = Literal["as it is", "by seconds", "by memory"]
AS_IT_IS: Scaling = "as it is"

_PAGE_BYTES = 4096
_LEAST_LIMIT_BYTES = 2 * _PAGE_BYTES  # mm/page-writeback.c: dirty_bytes_min
_STEMS = ("vm.dirty", "vm.dirty_background")


def guest_of(spec: Spec, scenario: Scenario) -> AssumedMachine:
    """Return the guest's memory, and the rate of the disk that the offender writes to."""
    return AssumedMachine(memory=spec.memory, write_bps=BytesPerSecond(spec.disk[scenario.disk].write_bps))


def in_force(sysctl: Mapping[str, int | str]) -> dict[str, int]:
    """Return the sysctls in force after they were set one after the other.

    A threshold is in bytes or a share: to set one clears the other, and 0 bytes are refused (mm/page-writeback.c:
    dirty_ratio_handler, dirty_bytes_handler and those of the background).
    """
    found: dict[str, int] = {}
    for key, given in sysctl.items():
        number = parse_bytes(given) if key.endswith("_bytes") else int(given)
        if key.endswith("_bytes") and not number:
            continue
        stem, _, kind = key.rpartition("_")
        if stem in _STEMS:
            found.pop(f"{stem}_{'ratio' if kind == 'bytes' else 'bytes'}", None)
        found.pop(key, None)
        found[key] = number
    return found


def scalings(value: Value) -> tuple[Scaling, ...]:
    """Return the ways of scaling a value; only one if it has no size."""
    sized = any(f"{stem}_{kind}" in in_force(value.sysctl) for stem in _STEMS for kind in ("bytes", "ratio"))
    ways: tuple[Scaling, ...] = get_args(Scaling)
    return ways[1:] if sized or "max_bytes" in value.bdi else ways[:1]


def settings(value: Value, machine: AssumedMachine, spec: Spec, scenario: Scenario, way: Scaling) -> dict[str, Any]:
    """Return the spec keys of a value, scaled from its machine to the scenario."""
    guest = guest_of(spec, scenario)
    keys: dict[str, Any] = {}
    for key, number in _sysctls(in_force(value.sysctl), machine, guest, way).items():
        keys[f"sysctl.{key}"] = number
    for name, given in value.bdi.items():
        size = name.endswith("_bytes")
        number = _pages(_scaled_value(parse_bytes(given), machine, guest, way)) if size else int(given)
        keys[f"{spec.disk_key(scenario.disk)}.bdi.{name}"] = number
    for name, disk in spec.disk.items():
        place = spec.disk_key(name)
        if value.mount:
            keys[f"{place}.mount_options"] = [*disk.mount_options, *value.mount]
        keys |= {f"{place}.queue.{key}": number for key, number in value.queue.items()}
    return keys


def background_bytes(spec: Spec) -> float:
    """Return a guest's background threshold in bytes. A share counts of all memory: an upper limit."""
    size = int(spec.sysctl.get("vm.dirty_background_bytes", 0))
    return size or int(spec.sysctl.get("vm.dirty_background_ratio", 10)) / 100 * spec.memory


def _sysctls(wanted: Mapping[str, int], machine: AssumedMachine, guest: AssumedMachine, way: Scaling) -> dict[str, int]:
    found: dict[str, int] = {}
    for key, number in wanted.items():
        stem, _, kind = key.rpartition("_")
        if stem not in _STEMS or (kind == "ratio" and way != "by seconds"):
            found[key] = number
        else:
            size = number / 100 * machine.memory if kind == "ratio" else number
            least = _LEAST_LIMIT_BYTES if stem == _STEMS[0] else _PAGE_BYTES
            found |= {f"{stem}_ratio": 0, f"{stem}_bytes": max(_pages(_scaled_value(size, machine, guest, way)), least)}
    return found


def _scaled_value(size: float, machine: AssumedMachine, guest: AssumedMachine, way: Scaling) -> float:
    if way == "by seconds":
        return size / machine.write_bps * guest.write_bps
    return size / machine.memory * guest.memory if way == "by memory" else size


def _pages(size: float) -> int:
    return -(-int(size) // _PAGE_BYTES) * _PAGE_BYTES


# How the kernel takes values as published: a guest sets them one after the other, and reads them back.

ASKED = "asked"  # the scenario of these runs
ASKED_BASE = "base"
_AGENT = "setter"
_MOST_BYTES = 1 << 16
# /proc/vmstat computes them when it is read.
_LIMIT, _BACKGROUND = "nr_dirty_threshold", "nr_dirty_background_threshold"


@dataclass(frozen=True)
class Answer:
    """The kernel's answer. refused: keys that it rejected. now: the values of all keys afterwards.

    limit_bytes, background_bytes: the resulting thresholds in the guest.
    """

    refused: tuple[str, ...]
    now: Mapping[str, int]
    limit_bytes: int
    background_bytes: int

    def words(self, value: Value) -> str:
        """Return which settings did not take effect; empty if all did."""
        found = [f"{key} = {value.sysctl[key]} is rejected" for key in self.refused]
        for key, given in value.sysctl.items():
            wanted = parse_bytes(given) if key.endswith("_bytes") else int(given)
            if key not in self.refused and self.now[key] != wanted:
                found.append(f"{key} = {given} is cleared by a later setting, and reads {self.now[key]}")
        return "; ".join(found)


def asked_settings(value: Value) -> list[str]:
    """Return the changes to a spec for a short run with an agent that sets the value and reads it back."""
    lines = ["trap 'exit 0' TERM"]
    for key, given in value.sysctl.items():
        number = parse_bytes(given) if key.endswith("_bytes") else int(given)
        path = shlex.quote(f"/proc/sys/{key.replace('.', '/')}")
        lines.append(f"echo {number} 2>/dev/null > {path} || echo refused {key}")
    lines += [f"echo now {key} $(cat /proc/sys/{key.replace('.', '/')})" for key in value.sysctl]
    lines += [f"echo now $(grep '^{name} ' /proc/vmstat)" for name in (_LIMIT, _BACKGROUND)]
    lines.append("while :; do sleep 1; done")
    argv = ["/bin/sh", "-c", "\n".join(lines)]
    return [
        "trace.events=[]",
        "load.l1.wait=1s",
        "load.l1.size=64KiB",
        "load.l2.wait=1s",
        "load.l2.size=64KiB",
        f"agent.{_AGENT}.argv={json.dumps(argv)}",
    ]


def read_answer(run: Path) -> Answer:
    """Read the kernel's answer from such a run. Raises InputError if it has none."""
    path = run / agent_log(_AGENT)
    try:
        lines = read_bytes(path, _MOST_BYTES).decode().splitlines()
        words = [printable(line).split() for line in lines if line.strip()]
        refused = tuple(line[1] for line in words if line[0] == "refused")
        now = {line[1]: int(line[2]) for line in words if line[0] == "now"}
        limit, background = now.pop(_LIMIT), now.pop(_BACKGROUND)
    except (OSError, ValueError, LookupError) as error:
        raise InputError(f"{path} has no answer of the kernel: {type(error).__name__}: {error}") from None
    return Answer(refused, now, limit * _PAGE_BYTES, background * _PAGE_BYTES)


NAME = "trial"
SCENARIO, RECOMMENDATION, SCALING = "scenario", "recommendation", "scaling"
MOST_SEEDS = 20  # an effect that needs more is smaller than the difference between seeds


def trial_matrix(wisdom: Wisdom, seeds: int = MOST_SEEDS, kernel: str = "") -> Plan:
    """Return the plan of a trial. Raises InputError."""
    plans = [*_tried(wisdom, kernel), *_asked(wisdom, kernel)]
    cells = []
    for number, (scenario, entry, way, table) in enumerate(plans):
        levels = {SCENARIO: scenario, RECOMMENDATION: entry, SCALING: way}
        words = [f"{number:0{len(str(len(plans) - 1))}}", scenario, entry, way.replace(" ", "-")]
        name = "-".join(words)[:60]
        try:
            spec = from_table(Spec, table | {"name": name})
            check_spec(spec)
        except InputError as error:
            raise InputError(f"{error} (recommendation {entry}, scenario {scenario})") from None
        cells.append(Cell(name, dict(levels), spec))
    return Plan(NAME, tuple(range(1, seeds + 1)), tuple(cells), design=_DESIGN)


def scenario_spec(scenario: Scenario) -> Spec:
    """Return the spec of a scenario with the kernel's defaults. Raises InputError."""
    return from_table(Spec, _table(scenario.base, "scenario", "", scenario.set))


_Tried = tuple[str, str, Scaling, dict[str, Any]]  # scenario, key of the value, scaling, the spec's table


def _tried(wisdom: Wisdom, kernel: str) -> list[_Tried]:
    """Return the default and all values for each scenario."""
    plans: list[_Tried] = []
    for name, scenario in wisdom.scenario.items():
        start = _table(scenario.base, name, kernel, scenario.set)
        values = [key for key, (entry, value) in wisdom.values().items() if name in wisdom.scenarios_of(entry, value)]
        if values:
            plans.append((name, DEFAULT, AS_IT_IS, start))
        for key in values:
            tables = _scaled(wisdom, key, start, scenario)
            plans += [(name, key, way, table) for way, table in tables.items()]
    return plans


def _scaled(wisdom: Wisdom, key: str, start: dict[str, Any], scenario: Scenario) -> dict[Scaling, dict[str, Any]]:
    """Return a value's tables by scaling; only one if all are equal."""
    (entry, value), spec = wisdom.values()[key], from_table(Spec, start)
    tables = {}
    for way in scalings(value):
        tables[way] = _changed(start, value.set)
        for path, given in settings(value, wisdom.machine_of(entry), spec, scenario, way).items():
            set_key(tables[way], path, given)
    first = next(iter(tables.values()))
    return tables if any(table != first for table in tables.values()) else {AS_IT_IS: first}


def _asked(wisdom: Wisdom, kernel: str) -> list[_Tried]:
    """Return a short run for each value with sysctls: it sets them as published, and reads them back."""
    values = [(key, value) for key, (_, value) in wisdom.values().items() if value.sysctl]
    start = _table(ASKED_BASE, ASKED, kernel, ())
    return [(ASKED, key, AS_IT_IS, _changed(start, asked_settings(value))) for key, value in values]


def _table(base: str, name: str, kernel: str, changes: Sequence[str]) -> dict[str, Any]:
    return _changed(read_table(SPECS.find(base)) | {"name": name, "seed": 1, "kernel": kernel}, changes)


def _changed(table: dict[str, Any], changes: Sequence[str]) -> dict[str, Any]:
    changed = copy.deepcopy(table)
    for setting in changes:
        set_key(changed, *read_setting(setting, "disk.write_bps=2M"))
    return changed
