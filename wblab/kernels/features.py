"""What a kernel can do, detected by strings in its executable or by its options, and never by its version."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cache
from types import MappingProxyType

from wblab.core.errors import InputError
from wblab.kernels import catalog
from wblab.kernels.config import parse_config
from wblab.kernels.kernel import Kernel

# The options that a kernel was built with, as far as they are known.


def options_of(kernel: Kernel) -> Mapping[str, str] | None:
    """Return the values of a kernel's options that are set, by names with CONFIG_; None if nothing says them."""
    if kernel.config is None or not kernel.config.is_file():
        return None
    return _parsed(kernel.config.read_text(errors="replace"))


@cache  # a study asks for each of its cells
def _parsed(text: str) -> Mapping[str, str]:
    return MappingProxyType(parse_config(text))


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


# On how many processors a kernel of User Mode Linux can run: its configuration says so.


def on_processors(kernel: Kernel, processors: int, name: str) -> Kernel:
    """Return a kernel as it runs on a number of processors. name: as the user gave it. Raises InputError."""
    most = most_processors(kernel)
    if processors <= most:
        return replace(kernel, processors=processors)
    if most == 1:
        raise InputError(
            f"kernel {name}: it was built for one processor: take one with CONFIG_SMP, such as 7.2+smp@{processors} "
            "('wblab kernel build 7.2+smp' builds it)"
        )
    raise InputError(f"kernel {name}: it was built for at most {most} processors: give @{most} or fewer")


def most_processors(kernel: Kernel) -> int:
    """Return the most processors that a kernel was built for; 1 if its configuration is not known.

    It would take a larger number for this one without a word.
    """
    options = options_of(kernel) or {}
    return int(options["CONFIG_NR_CPUS"]) if options.get("CONFIG_SMP") == "y" else 1
