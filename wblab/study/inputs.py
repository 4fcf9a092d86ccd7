"""The inputs, besides the spec, that two runs must share to be identical."""

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from wblab.analysis.runs.run import Run

# A part of the record, the key in it, and its name in the plural.
_INPUTS = (
    ("kernel", "build_id", "kernel builds"),
    ("guest", "program_sha256", "versions of the lab or of Python's library"),
    ("guest", "python_sha256", "Pythons"),
    ("guest", "libraries", "libraries below Python"),
    ("host", "tools", "trace-cmd or mkfs"),
    ("host", "cpu", "processors"),
)
# In the record of runs in which programs of the host ran, with a digest for each.
_PROGRAMS = ("guest", "programs", "programs in the guest")


def inputs_of(record: Mapping[str, Any]) -> dict[str, str]:
    """Return the inputs in a run's record, by name: a short text each, or a digest of what is longer."""
    found = {what: _short((record.get(part) or {}).get(key)) for part, key, what in _INPUTS}
    part, key, what = _PROGRAMS
    programs = (record.get(part) or {}).get(key)
    return found | ({what: _short(programs)} if programs else {})


def different(first: Mapping[str, str], second: Mapping[str, str]) -> list[str]:
    """Return which inputs of two runs differ, by name."""
    return [what for what in {**first, **second} if first.get(what) != second.get(what)]


def reason(differing: Sequence[str]) -> str:
    """Return why two runs with the same spec and seed differ, from the names of the inputs that do."""
    return f"other {', '.join(differing)}" if differing else "all recorded inputs are the same: that should not be"


def excuses(first: "Run", second: "Run") -> list[str]:
    """Return the reasons why two runs may differ: real time, and inputs whose records differ."""
    found = []
    if "real" in (first.spec.clock.mode, second.spec.clock.mode):
        found.append("no two runs in real time are identical")
    for part, key, what in (*_INPUTS, _PROGRAMS):
        values = [(run.record.get(part) or {}).get(key) for run in (first, second)]
        if values[0] != values[1]:
            found.append(f"the runs used different {what}: {' and '.join(_differing(*values))}")
    return found


def _differing(first: object, second: object) -> list[str]:
    """Return two values in short; of two tables, only the keys that differ."""
    if isinstance(first, dict) and isinstance(second, dict):
        keys = [key for key in {**first, **second} if first.get(key) != second.get(key)]
        return [", ".join(f"{key} {str(table.get(key))[:40]}" for key in keys) for table in (first, second)]
    return [str(value)[:40] for value in (first, second)]


def _short(value: object) -> str:
    return value if isinstance(value, str) else sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
