"""What two runs must have in common to be the same, besides their spec."""

from wblab.analysis.runs.run import Run

# Part of the record, key in it, and what it is.
_INPUTS = (
    ("kernel", "build_id", "kernel builds"),
    ("guest", "program_sha256", "versions of the lab or of Python's library"),
    ("guest", "python_sha256", "Pythons"),
    ("guest", "libraries", "libraries below Python"),
    ("host", "tools", "trace-cmd or mkfs"),
    ("host", "cpu", "processors"),
)


def excuses(first: Run, second: Run) -> list[str]:
    """Return why two runs need not be the same: real time, and inputs that the records say are not the same."""
    found = []
    if "real" in (first.spec.clock.mode, second.spec.clock.mode):
        found.append("in real time no two runs are the same")
    for part, key, what in _INPUTS:
        values = [(run.record.get(part) or {}).get(key) for run in (first, second)]
        if values[0] != values[1]:
            found.append(f"the runs are of different {what}: {' and '.join(_differing(*values))}")
    return found


def _differing(first: object, second: object) -> list[str]:
    """Return two values in short; of two tables, what is not the same in both."""
    if isinstance(first, dict) and isinstance(second, dict):
        keys = [key for key in {**first, **second} if first.get(key) != second.get(key)]
        return [", ".join(f"{key} {str(table.get(key))[:40]}" for key in keys) for table in (first, second)]
    return [str(value)[:40] for value in (first, second)]
