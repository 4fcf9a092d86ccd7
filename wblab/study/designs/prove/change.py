"""Changes to a repeated run: stop a load, or apply a remedy."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from wblab.core.errors import InputError, nearest
from wblab.core.spec import Agent, Phase, Spec
from wblab.core.tables import from_table, to_table
from wblab.core.units import Nanoseconds
from wblab.lab.specfile import phase_of, read_setting, set_key, spec_of
from wblab.report.quantities import enumerated

_PHASE = "remedy"
_A_PHASE = "the phase *"
# A program in an agent's place: it must not end by itself, and ends well on SIGTERM. Without any agent the guest would
# lack what agents need, such as groups with writeback of their own.
_IDLE = ("python3", "-c", "import signal; signal.pthread_sigmask(signal.SIG_BLOCK, {15}); signal.sigwait({15})")


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
class StopLoad:
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
            spec = StopLoad(load).applied(spec, at_ns)
        return spec


def phase_named(name: str) -> str:
    """Return what a phase is called in sentences, beside loads and agents; no load has such a name."""
    return f"{_A_PHASE}{name}*"


def is_phase(name: str) -> bool:
    """Whether a name is that of a phase, as `phase_named` returns it."""
    return name.startswith(_A_PHASE)


@dataclass(frozen=True)
class LeftOut:
    """Leave out loads, agents and phases: each load is stopped at a moment of its own, before it first does anything.

    loads: with these moments, in ns after the loads' start. agents: a program that only sleeps takes their place.
    """

    loads: tuple[tuple[str, int], ...]
    agents: tuple[str, ...] = ()
    phases: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of what is left out."""
        return (*(load for load, _ in self.loads), *self.agents, *map(phase_named, self.phases))

    @property
    def name(self) -> str:
        """The names, as a sentence lists them."""
        return enumerated(self.names)

    @property
    def called(self) -> str:
        """The suffix of the names of runs without these."""
        return f"without_{'_'.join((*(load for load, _ in self.loads), *self.agents, *self.phases))}"[:40]

    def applied(self, spec: Spec, at_ns: int) -> Spec:
        """Return the spec without these; `at_ns` does not count. Raises InputError for an unknown load."""
        for load, time_ns in self.loads:
            spec = StopLoad(load).applied(spec, time_ns)
        kept = {name: phase for name, phase in spec.phase.items() if name not in self.phases}
        return replace(spec, phase=kept, agent={**spec.agent, **dict.fromkeys(self.agents, Agent(argv=_IDLE))})


@dataclass(frozen=True)
class Edit:
    """Change the spec from the very beginning: keys and values as `wblab run --set` takes them."""

    settings: tuple[str, ...]

    @property
    def name(self) -> str:
        """The settings."""
        return ", ".join(self.settings)

    @property
    def called(self) -> str:
        """The suffix of the names of runs with these settings."""
        return "with_settings"

    def applied(self, spec: Spec, at_ns: int) -> Spec:
        """Return the spec with these settings; `at_ns` does not count. Raises InputError."""
        table = to_table(spec)
        for setting in self.settings:
            set_key(table, *read_setting(setting, "disk.write_bps=2097152"))
        return spec_of(table, exact=True)


@dataclass(frozen=True)
class RemedyChange:
    """Change settings: keys of a phase and their values, as KEY=VALUE."""

    settings: tuple[str, ...]
    phase: Phase = field(hash=False)

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


def read_remedy(settings: Sequence[str]) -> RemedyChange:
    """Return the remedy that these settings make, each KEY=VALUE of a phase. Raises InputError."""
    table: dict[str, Any] = {"phase": {_PHASE: {"at": 0}}}
    for setting in settings:
        key, value = read_setting(setting, "disk.disk.queue.nr_requests=8")
        if key == "at":
            raise InputError(f"--remedy {setting}: wblab chooses the times itself: give only settings")
        set_key(table, f"phase.{_PHASE}.{key}", value)
    return RemedyChange(
        tuple(settings), from_table(Phase, phase_of(table["phase"][_PHASE], "--remedy"), "--remedy", exact=False)
    )
