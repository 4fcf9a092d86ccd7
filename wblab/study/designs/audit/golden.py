"""Golden runs: the digest of the base run on several machines, and the inputs that the digest depends on.

`experiments/measured/golden.json` has an entry for each machine that recorded its run.
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
from wblab.core.spec import Spec
from wblab.core.tables import to_table
from wblab.host.bundle import sources_sha256
from wblab.host.machine import distribution, hides_processor
from wblab.lab.places import LINUX_UML, MEASURED
from wblab.lab.specfile import LiveSpec

FILE = MEASURED / "golden.json"
SPEC = "base"
# The inputs of the digest. The checkout decides these, so they are the same on every machine that has it.
_OF_CHECKOUT = ("the experiment", "the guest's program", "linux-uml")
# The machine decides these. The value is the part of a run's record, and the key in it.
_OF_MACHINE = {
    "the kernel's source": ("kernel", "source"),
    "the kernel's configuration": ("kernel", "config_sha256"),
    "the kernel's features": ("kernel", "features"),
    "the compiler": ("kernel", "compiler"),
    "Python": ("guest", "python_sha256"),
    "libraries below Python": ("guest", "libraries"),
    "trace-cmd or mkfs": ("host", "tools"),
}
_PROCESSOR = "the processor"
_HIDES_PROCESSOR = "fixed-processor"  # a feature of kernels; the host's processor must support it too


@dataclass(frozen=True)
class Golden:
    """A golden run. on: the machine, in words; inputs: everything that the digest depends on, by name."""

    on: str
    digest: str
    inputs: Mapping[str, str]

    def differing(self, inputs: Mapping[str, str]) -> list[str]:
        """Return the names of the inputs that differ."""
        return [name for name in {**self.inputs, **inputs} if self.inputs.get(name) != inputs.get(name)]


@dataclass(frozen=True)
class GoldenVerdict:
    """The comparison of a run with the golden run closest to it. differing: the names of the inputs that differ."""

    nearest: Golden
    same: bool
    differing: tuple[str, ...]

    @property
    def stale(self) -> tuple[str, ...]:
        """The inputs of the checkout that differ: the golden run is of another lab, and says nothing about this one."""
        return () if self.same else tuple(name for name in self.differing if name in _OF_CHECKOUT)

    @property
    def excused(self) -> bool:
        """Whether the digests differ and only inputs of the machines explain it, none of the checkout."""
        return not self.same and bool(self.differing) and not self.stale

    def __str__(self) -> str:
        inputs = f"other inputs: {', '.join(self.differing)}" if self.differing else "the same inputs"
        return f"{'identical to' if self.same else 'different from'} the run on {self.nearest.on}, with {inputs}"


def judge(golden: Sequence[Golden], new: Golden) -> GoldenVerdict:
    """Compare a run with the golden run closest to it. Raises InputError if there is none.

    The closest one has the same digest, or else the fewest inputs that differ.
    """
    if not golden:
        raise InputError(f"{FILE.name} has no golden run yet: record one with wblab repeat golden --update")
    nearest = min(golden, key=lambda one: (one.digest != new.digest, len(one.differing(new.inputs))))
    return GoldenVerdict(nearest, nearest.digest == new.digest, tuple(nearest.differing(new.inputs)))


def noted(golden: Sequence[Golden], new: Golden) -> list[Golden]:
    """Return the golden runs and the new one, without those of an older lab and the machine's own earlier one.

    A machine with another processor is another machine.
    """
    same_lab = [one for one in golden if not set(one.differing(new.inputs)) & set(_OF_CHECKOUT)]
    kept = [one for one in same_lab if _place(one) != _place(new)]
    return sorted([*kept, new], key=_place)


def _place(one: Golden) -> tuple[str, str]:
    return one.on, one.inputs.get(_PROCESSOR, "")


def seen(run: Run) -> Golden:
    """Return a run of this machine as a golden run. Raises InputError for a damaged trace."""
    return Golden(f"{distribution()}, {run.record['kernel']['release']}", digest(run), inputs(run))


def inputs(run: Run) -> dict[str, str]:
    """Return the inputs that a run's digest depends on, by name, each as a digest or a short text."""
    found = of_checkout(run.spec)
    found |= {name: _short(run.record[part][key]) for name, (part, key) in _OF_MACHINE.items()}
    hidden = _HIDES_PROCESSOR in run.record["kernel"]["features"] and hides_processor()
    return found | {_PROCESSOR: "hidden" if hidden else run.record["host"]["cpu"]}


def of_checkout(spec: Spec | LiveSpec) -> dict[str, str]:
    """Return the inputs of a spec's run that this checkout decides, by name. No run is needed to know them."""
    values = (to_table(spec), sources_sha256(), [path.read_text() for path in _kernel_files()])
    return {name: _short(value) for name, value in zip(_OF_CHECKOUT, values, strict=True)}


def _kernel_files() -> list[Path]:
    """Return the files that decide a kernel's build, without variants: sources, configuration and patches."""
    files = (path for path in sorted(LINUX_UML.rglob("*")) if path.is_file() and path.suffix != ".md")
    return [path for path in files if path.relative_to(LINUX_UML).parts[0] != "variants"]


def _short(value: Any) -> str:
    return value if isinstance(value, str) else sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def read_golden(path: Path = FILE) -> list[Golden]:
    """Return the recorded golden runs; none if there is no file."""
    return [Golden(**entry) for entry in json.loads(path.read_text())] if path.exists() else []


def write_golden(golden: Sequence[Golden], path: Path = FILE) -> None:
    """Write golden runs to the file."""
    path.write_text(json.dumps([asdict(one) for one in golden], indent=2) + "\n")
