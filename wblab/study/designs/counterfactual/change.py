"""Changes to a repeated run: stop a load, or apply a remedy."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from wblab.core.errors import InputError, nearest
from wblab.core.spec import Phase, Spec
from wblab.core.tables import from_table
from wblab.core.units import Nanoseconds
from wblab.lab.specfile import phase_of, read_setting, set_key

_PHASE = "remedy"


class Change(Protocol):
    """A change that takes effect at some moment of a run."""

    @property
    def name(self) -> str:
        """The name of the change in messages."""

    @property
    def called(self) -> str:
        """The suffix of the names of runs with this change."""

    def applied(self, spec: Spec, at_ns: int) -> Spec:
        """Return the spec of a run with the change from `at_ns` after the loads' start. Raises InputError."""


@dataclass(frozen=True)
class Stop:
    """Stop one load."""

    load: str

    @property
    def name(self) -> str:
        """The load's name."""
        return self.load

    @property
    def called(self) -> str:
        """The suffix of the names of runs in which the load is stopped."""
        return f"without_{self.load}"

    def applied(self, spec: Spec, at_ns: int) -> Spec:
        """Return the spec with the load's `until` set. Raises InputError for an unknown load."""
        if self.load not in spec.load:
            raise InputError(
                f"no load {self.load!r}{nearest(self.load, list(spec.load))}: the run has {', '.join(spec.load)}"
            )
        load = replace(spec.load[self.load], until=Nanoseconds(at_ns))
        return replace(spec, load={**spec.load, self.load: load})


@dataclass(frozen=True)
class Stops:
    """Stop several loads at the same moment."""

    loads: tuple[str, ...]

    @property
    def name(self) -> str:
        """The names of the loads."""
        return " and ".join(self.loads)

    @property
    def called(self) -> str:
        """The suffix of the names of runs in which the loads are stopped."""
        return f"without_{'_'.join(self.loads)}"

    def applied(self, spec: Spec, at_ns: int) -> Spec:
        """Return the spec with the `until` of each load set. Raises InputError for an unknown load."""
        for load in self.loads:
            spec = Stop(load).applied(spec, at_ns)
        return spec


@dataclass(frozen=True)
class Remedy:
    """Change settings: keys of a phase and their values, as KEY=VALUE."""

    settings: tuple[str, ...]
    phase: Phase

    @property
    def name(self) -> str:
        """The settings."""
        return ", ".join(self.settings)

    @property
    def called(self) -> str:
        """The suffix of the names of runs with the remedy."""
        return "with_remedy"

    def applied(self, spec: Spec, at_ns: int) -> Spec:
        """Return the spec with an additional phase."""
        name = _PHASE
        while name in spec.phase:
            name += "_"
        return replace(spec, phase={**spec.phase, name: replace(self.phase, at=Nanoseconds(at_ns))})


def read_remedy(settings: Sequence[str]) -> Remedy:
    """Return the remedy that these settings make, each KEY=VALUE of a phase. Raises InputError."""
    table: dict[str, Any] = {"phase": {_PHASE: {"at": 0}}}
    for setting in settings:
        key, value = read_setting(setting, "disk.disk.queue.nr_requests=8")
        if key == "at":
            raise InputError(f"--remedy {setting}: wblab chooses the times itself: give only settings")
        set_key(table, f"phase.{_PHASE}.{key}", value)
    return Remedy(
        tuple(settings), from_table(Phase, phase_of(table["phase"][_PHASE], "--remedy"), "--remedy", exact=False)
    )
