"""What a kernel can do, told from strings that only an executable which can do it holds; never from its version."""

from collections.abc import Collection
from dataclasses import dataclass
from functools import cache

from wblab.kernels import catalog
from wblab.kernels.kernel import Kernel


@cache
def features(kernel: Kernel) -> tuple[str, ...]:
    """Return what a kernel can do, of the features that linux-uml/kernels.toml knows."""
    known = catalog.load().features
    held = kernel.held(known.values())
    return tuple(name for name, text in known.items() if text in held)


@dataclass(frozen=True)
class SortedEvents:
    """Events that a run asks for (`system:event`, or `system`), by what a kernel makes of them.

    left_out: it lacks a feature that not all kernels have. unknown: nothing excuses that it lacks them: misspelt ones.
    """

    traced: tuple[str, ...]
    left_out: tuple[str, ...]
    unknown: tuple[str, ...]


def sort_events(kernel: Kernel, events: Collection[str]) -> SortedEvents:
    """Return what a kernel makes of the events.

    The names of all systems and events are strings in the executable (include/trace/trace_events.h). Patterns are
    not looked at; what they match only the guest can tell.
    """
    known = catalog.load()
    systems = known.events.keys() & {_system(event) for event in events}
    lacking = {system for system in systems if known.events[system] not in features(kernel)}
    left_out = tuple(event for event in events if _system(event) in lacking)
    held = kernel.held({name for event in events for name in _names(event)})
    unknown = tuple(event for event in events if event not in left_out and not held.issuperset(_names(event)))
    return SortedEvents(tuple(event for event in events if event not in left_out + unknown), left_out, unknown)


def _system(event: str) -> str:
    return event.partition(":")[0]


def _names(event: str) -> list[str]:
    """Return the strings that a kernel with an event holds: the names of system and event, but for patterns."""
    return [f"\0{part}\0" for part in event.split(":") if "*" not in part]
