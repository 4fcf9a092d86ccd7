"""What a kernel can do, told from strings that only an executable which can do it holds; never from its version."""

from collections.abc import Collection
from dataclasses import dataclass
from functools import cache

from wblab.kernels import catalog
from wblab.kernels.kernel import Kernel


@cache
def features(kernel: Kernel) -> tuple[str, ...]:
    """Return what a kernel can do, of the features that linux-uml/kernels.toml knows."""
    return tuple(name for name, text in catalog.load().features.items() if kernel.has(text))


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
    lacking = {system for system in systems if not _has(kernel, known.features[known.events[system]])}
    left_out = tuple(event for event in events if _system(event) in lacking)
    unknown = tuple(event for event in events if event not in left_out and not _is_known(kernel, event))
    return SortedEvents(tuple(event for event in events if event not in left_out + unknown), left_out, unknown)


def _system(event: str) -> str:
    return event.partition(":")[0]


def _is_known(kernel: Kernel, event: str) -> bool:
    return all("*" in part or _has(kernel, f"\0{part}\0") for part in event.split(":"))


@cache  # a matrix asks for the same few strings with each of its cells
def _has(kernel: Kernel, text: str) -> bool:
    return kernel.has(text)
