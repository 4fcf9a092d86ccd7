"""What a kernel can do, detected by strings in its executable or by its options, and never by its version."""

from collections.abc import Collection
from dataclasses import dataclass
from functools import cache

from wblab.kernels import catalog
from wblab.kernels.kernel import Kernel
from wblab.kernels.options import options_of


@cache
def features(kernel: Kernel) -> tuple[str, ...]:
    """Return the features of linux-uml/kernels.toml that a kernel has."""
    known = catalog.load().features
    held = kernel.held(known.values())
    return tuple(name for name, text in known.items() if text in held)


def has_virtual_time(kernel: Kernel) -> bool:
    """Whether a guest's time can be virtual: by User Mode Linux's time travel, or by the emulator of a stock kernel.

    A kernel whose options are not known is trusted to have it.
    """
    if kernel.virtual_time is not None:
        return kernel.virtual_time
    options = options_of(kernel)
    return options is None or "CONFIG_UML_TIME_TRAVEL_SUPPORT" in options


@dataclass(frozen=True)
class SortedEvents:
    """Events that a run requests (`system:event` or `system`), by whether a kernel has them.

    left_out: the kernel lacks a feature that some kernels lack. unknown: missing for no known reason, such as misspelt.
    """

    traced: tuple[str, ...]
    left_out: tuple[str, ...]
    unknown: tuple[str, ...]


def sort_events(kernel: Kernel, events: Collection[str]) -> SortedEvents:
    """Sort events by whether a kernel has them.

    The names of all systems and events are strings in the executable (include/trace/trace_events.h). Patterns count as
    known; only the guest knows what they match.
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
    """Return the strings that a kernel with an event contains: the names of system and event, without patterns."""
    return [f"\0{part}\0" for part in event.split(":") if "*" not in part]
