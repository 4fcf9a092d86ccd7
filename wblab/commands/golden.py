"""wblab golden: whether this machine sees what another saw, byte for byte.

`experiments/golden.json` holds the digest of the base run, with all that it depends on, for each machine that noted it.
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wblab.core.errors import InputError, WblabError
from wblab.lab.places import LINUX_UML, PRESETS, check_checkout

if TYPE_CHECKING:
    from wblab.data.run import Run

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


def judge(golden: Sequence[Golden], digest: str, inputs: Mapping[str, str]) -> Verdict:
    """Compare with the golden run of the same digest, else with that of the most alike machine. Raises InputError."""
    if not golden:
        raise InputError(f"{FILE.name} holds no golden run yet: wblab golden --update")
    nearest = min(golden, key=lambda one: (one.digest != digest, len(one.differing(inputs))))
    return Verdict(nearest, nearest.digest == digest, tuple(nearest.differing(inputs)))


def noted(golden: Sequence[Golden], new: Golden) -> list[Golden]:
    """Return the golden runs with a new one: without those of an older lab, and of the same machine's."""
    ours = {name: new.inputs[name] for name in _OURS}
    kept = [one for one in golden if {name: one.inputs.get(name) for name in _OURS} == ours and one.on != new.on]
    return sorted([*kept, new], key=lambda one: one.on)


def inputs(run: "Run") -> dict[str, str]:
    """Return what a run's digest depends on, each part as a digest or a short text."""
    from wblab.core.tables import to_table
    from wblab.host.bundle import sources_sha256
    from wblab.host.machine import hides_processor

    ours = (to_table(run.spec), sources_sha256(), [path.read_text() for path in _kernel_files()])
    machines = (run.record[part][key] for part, key in _MACHINES.values())
    found = {name: _short(value) for name, value in zip((*_OURS, *_MACHINES), (*ours, *machines), strict=True)}
    hidden = _HIDES_PROCESSOR in run.record["kernel"]["features"] and hides_processor()
    return found | {"the processor": "hidden" if hidden else run.record["host"]["cpu"]}


def _kernel_files() -> list[Path]:
    """Return what decides how a kernel is made: where its source is, its configuration, the patches."""
    return [path for path in sorted(LINUX_UML.rglob("*")) if path.is_file() and path.suffix != ".md"]


def _short(value: Any) -> str:
    return value if isinstance(value, str) else sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def read_golden(path: Path = FILE) -> list[Golden]:
    """Return the golden runs that were noted."""
    return [Golden(**entry) for entry in json.loads(path.read_text())] if path.exists() else []


def add_verbs(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the verb to the command."""
    golden = verbs.add_parser(
        "golden",
        help="does this machine see what others saw?",
        description=f"Run the base experiment, and say whether it gave what {FILE.name} says that other machines saw, "
        "byte for byte, or which of the things that it depends on differ.",
    )
    golden.add_argument("--update", action="store_true", help="note what this machine sees")
    golden.add_argument("--exp", type=Path, metavar="DIR", help="where run directories go (default: exp/ of the lab)")
    golden.set_defaults(run=_golden)


def _golden(arguments: argparse.Namespace) -> None:
    from wblab.commands.run import run_spec
    from wblab.data.digest import digest
    from wblab.data.run import read_run
    from wblab.host.machine import distribution
    from wblab.lab.places import RESULTS
    from wblab.lab.specfile import find_spec, read_spec

    if arguments.update:
        check_checkout(FILE, "--update")
    run = read_run(run_spec(read_spec(find_spec(SPEC)), arguments.exp or RESULTS).directory)
    found = digest(run)
    print(run.path)
    print(found)
    if arguments.update:
        new = Golden(f"{distribution()}, {run.record['kernel']['release']}", found, inputs(run))
        FILE.write_text(json.dumps([asdict(one) for one in noted(read_golden(), new)], indent=2) + "\n")
        return
    verdict = judge(read_golden(), found, inputs(run))
    print(verdict)
    if not verdict.same:
        raise WblabError("this machine sees something else")
