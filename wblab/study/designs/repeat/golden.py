"""What other machines saw of one run, byte for byte, and what this depends on.

`experiments/golden.json` holds the digest of the base run, with all that it depends on, for each machine that noted it.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from wblab.analysis.runs.digest import digest
from wblab.analysis.runs.run import Run
from wblab.core.errors import InputError
from wblab.core.tables import to_table
from wblab.host.bundle import sources_sha256
from wblab.host.machine import distribution, hides_processor
from wblab.lab.places import LINUX_UML, PRESETS

FILE = PRESETS / "golden.json"
SPEC = "base"
# What the digest depends on. This is ours, the same on every machine with this checkout ...
_OURS = ("the experiment", "the guest's program", "linux-uml")
# ... and this the machine's: part of a run's record, and key in it.
_MACHINES = {
    "the kernel's source": ("kernel", "source"),
    "the kernel's configuration": ("kernel", "config_sha256"),
    "the kernel's features": ("kernel", "features"),
    "the compiler": ("kernel", "compiler"),
    "Python": ("guest", "python_sha256"),
    "libraries below Python": ("guest", "libraries"),
    "trace-cmd or mkfs": ("host", "tools"),
}
_HIDES_PROCESSOR = "fixed-processor"  # a feature of kernels, for which the host's processor must be able to


@dataclass(frozen=True)
class Golden:
    """What a machine saw. on: the machine, in words; inputs: by what they are, all that the digest depends on."""

    on: str
    digest: str
    inputs: Mapping[str, str]

    def differing(self, inputs: Mapping[str, str]) -> list[str]:
        """Return which inputs are not the same."""
        return [name for name in {**self.inputs, **inputs} if self.inputs.get(name) != inputs.get(name)]


@dataclass(frozen=True)
class Verdict:
    """A run beside the golden one that is nearest to it. differing: which inputs are not the same."""

    nearest: Golden
    same: bool
    differing: tuple[str, ...]

    @property
    def excused(self) -> bool:
        """Whether another digest is no wonder: the machines differ, in what is not ours."""
        return not self.same and bool(self.differing) and not set(self.differing) & set(_OURS)

    def __str__(self) -> str:
        others = f"{' and '.join(self.differing)} not the same" if self.differing else ""
        if self.same:
            return f"the same as on {self.nearest.on}" + (f", with {others}" if others else "")
        if not self.differing:
            return f"not the same as on {self.nearest.on}, where nothing that it depends on differs"
        return f"not the same as on {self.nearest.on}, with {others}"


def judge(golden: Sequence[Golden], new: Golden) -> Verdict:
    """Compare with the golden run of the same digest, else with that of the most alike machine. Raises InputError."""
    if not golden:
        raise InputError(f"{FILE.name} holds no golden run yet: wblab golden --update")
    nearest = min(golden, key=lambda one: (one.digest != new.digest, len(one.differing(new.inputs))))
    return Verdict(nearest, nearest.digest == new.digest, tuple(nearest.differing(new.inputs)))


def noted(golden: Sequence[Golden], new: Golden) -> list[Golden]:
    """Return the golden runs with a new one: without those of an older lab, and of the same machine's."""
    ours = {name: new.inputs[name] for name in _OURS}
    kept = [one for one in golden if {name: one.inputs.get(name) for name in _OURS} == ours and one.on != new.on]
    return sorted([*kept, new], key=lambda one: one.on)


def seen(run: Run) -> Golden:
    """Return what this machine saw. Raises InputError for a damaged trace."""
    return Golden(f"{distribution()}, {run.record['kernel']['release']}", digest(run), inputs(run))


def inputs(run: Run) -> dict[str, str]:
    """Return what a run's digest depends on, each part as a digest or a short text."""
    ours = (to_table(run.spec), sources_sha256(), [path.read_text() for path in _kernel_files()])
    machines = (run.record[part][key] for part, key in _MACHINES.values())
    found = {name: _short(value) for name, value in zip((*_OURS, *_MACHINES), (*ours, *machines), strict=True)}
    hidden = _HIDES_PROCESSOR in run.record["kernel"]["features"] and hides_processor()
    return found | {"the processor": "hidden" if hidden else run.record["host"]["cpu"]}


def _kernel_files() -> list[Path]:
    """Return what decides how a kernel without variants is made: its source, its configuration, the patches."""
    files = (path for path in sorted(LINUX_UML.rglob("*")) if path.is_file() and path.suffix != ".md")
    return [path for path in files if path.relative_to(LINUX_UML).parts[0] != "variants"]


def _short(value: Any) -> str:
    return value if isinstance(value, str) else sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def read_golden(path: Path = FILE) -> list[Golden]:
    """Return the golden runs that were noted."""
    return [Golden(**entry) for entry in json.loads(path.read_text())] if path.exists() else []


def write_golden(golden: Sequence[Golden], path: Path = FILE) -> None:
    """Write the golden runs that are noted."""
    path.write_text(json.dumps([asdict(one) for one in golden], indent=2) + "\n")
