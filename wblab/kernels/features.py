"""What a kernel can do, told from strings that only an executable which can do it holds; never from its version."""

from collections.abc import Collection
from functools import cache

from wblab.kernels import catalog
from wblab.kernels.kernel import Kernel


@cache
def features(kernel: Kernel) -> tuple[str, ...]:
    """Return what a kernel can do, of the features that linux-uml/kernels.toml knows."""
    return tuple(name for name, text in catalog.load().features.items() if kernel.has(text))


def left_out(kernel: Kernel, events: Collection[str]) -> tuple[str, ...]:
    """Return those of the events (`system:event`, or `system`) for which a kernel lacks a feature that not all have."""
    known = catalog.load()
    systems = known.events.keys() & {event.partition(":")[0] for event in events}
    lacking = {system for system in systems if not kernel.has(known.features[known.events[system]])}
    return tuple(event for event in events if event.partition(":")[0] in lacking)


def unknown_events(kernel: Kernel, events: Collection[str]) -> tuple[str, ...]:
    """Return those of the events that a kernel does not have although nothing excuses it: misspelt ones.

    The names of all systems and events are strings in the executable (include/trace/trace_events.h). Patterns are
    not looked at; what they match only the guest can tell.
    """
    excused = left_out(kernel, events)
    return tuple(
        event
        for event in events
        if event not in excused and not all("*" in part or kernel.has(f"\0{part}\0") for part in event.split(":"))
    )


def why_left_out(kernel: Kernel, events: Collection[str]) -> str:
    """Return in a line which events a run on this kernel leaves out, and why; empty where it traces all."""
    missing = left_out(kernel, events)
    return f"the kernel {kernel.release} does not have the events {', '.join(missing)}: left out" if missing else ""
