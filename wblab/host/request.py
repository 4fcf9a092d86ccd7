"""One door for a run: a request is a spec that was checked, with the kernel that it runs on."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace

from wblab.core.errors import InputError
from wblab.core.spec import Spec, Trace
from wblab.host.blame import blamed, is_wanted
from wblab.host.check import check_run
from wblab.host.place import place_named, place_of
from wblab.host.sandbox import landlock_version
from wblab.kernels import Kernel, KernelResolver, sort_events


@dataclass(frozen=True)
class Request:
    """A run that is ready: `ready` or `suited` makes it, wblab.host.run.run_experiment runs it.

    left_out: those of the spec's events for which the kernel lacks a feature that not all kernels have, and of those
    that explain pauses, which the kernel has not.
    """

    spec: Spec
    kernel: Kernel
    left_out: tuple[str, ...] = ()

    @property
    def traced(self) -> Spec:
        """The spec with what explains pauses and without the events left out, which is what the guest gets."""
        trace = blamed(self.spec) if is_wanted(self.spec) else self.spec.trace
        return replace(self.spec, trace=without(trace, self.left_out))


def ready(spec: Spec, resolve: KernelResolver, check: Callable[[Spec], None] | None = None) -> Request:
    """Return the request for a run on this machine. Raises InputError for one that cannot run: nothing was booted.

    check: raises InputError for a spec that this machine cannot run; by default `check_run`.
    """
    if place_named(spec.kernel.build).boots:
        (check or check_run)(spec)
    return suited(spec, resolve(spec.kernel.build))


def suited(spec: Spec, kernel: Kernel) -> Request:
    """Return the request for a run wherever it is made: that machine is not checked. Raises InputError.

    Events for which a kernel lacks a feature are left out; those that nothing excuses are misspelt.
    """
    place = place_of(kernel)
    place.check(spec, kernel)
    if not place.boots:
        return Request(spec, kernel, spec.trace.events)
    events = sort_events(kernel, spec.trace.events)
    if events.unknown:
        raise InputError(
            f"trace.events: the kernel {kernel.release} has no {', '.join(events.unknown)}: "
            "correct or remove it; names are as in /sys/kernel/tracing/events"
        )
    left_out = events.left_out
    if is_wanted(spec):
        explaining = sort_events(kernel, blamed(spec).events)
        left_out = tuple(dict.fromkeys((*left_out, *explaining.left_out, *explaining.unknown)))
    return Request(spec, kernel, left_out)


def without(trace: Trace, left_out: Collection[str]) -> Trace:
    """Return a trace without some events, and without what is said of them."""
    events = tuple(event for event in trace.events if event not in left_out)
    filters, triggers = (
        {event: text for event, text in texts.items() if event in events} for texts in (trace.filters, trace.triggers)
    )
    return replace(trace, events=events, filters=filters, triggers=triggers)


def notes(requests: Iterable[Request], *, here: bool = True, seeds: int = 1, landlock: int | None = None) -> list[str]:
    """Return what to know of these runs, each in a line: what they leave out, and whether the host guards its files.

    here: they run on this machine. seeds: the runs of each request. landlock: the host's version, 0 for none; by
    default this host's.
    """
    asked = list(requests)
    missing: dict[str, dict[str, None]] = {}  # events by the kernel's release, each once and in order
    runs: Counter[str] = Counter()  # that leave out some
    booted = [one for one in asked if place_of(one.kernel).boots]
    for one in booted:
        if one.left_out:
            missing.setdefault(one.kernel.release, {}).update(dict.fromkeys(one.left_out))
            runs[one.kernel.release] += seeds
    found = [
        f"the kernel {release} does not have the events {_by_system(events)}: "
        f"left out{_share(runs[release], len(asked) * seeds)}"
        for release, events in missing.items()
    ]
    if any(one.left_out for one in asked if one not in booted):
        found.append("on this machine itself a spec's events are not recorded: wblab live records them")
    if here and booted and not (landlock_version() if landlock is None else landlock):
        found.append("no Landlock on this machine: only the guest's kernel protects your files (wblab doctor)")
    return found


def _by_system(events: Iterable[str]) -> str:
    """Return events as text, each system once: syscalls:{sys_enter_openat,sys_exit_openat}."""
    systems: dict[str, list[str]] = {}
    for system, _, name in (event.partition(":") for event in events):
        systems.setdefault(system, []).append(name or "*")
    return ", ".join(
        f"{system}:{names[0]}" if len(names) == 1 else f"{system}:{{{','.join(names)}}}"
        for system, names in systems.items()
    )


def _share(runs: int, total: int) -> str:
    if total == 1:
        return ""
    return f" of all {total} runs" if runs == total else f" of {runs} of {total} runs"
