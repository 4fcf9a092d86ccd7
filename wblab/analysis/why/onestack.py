"""What a task waits for, by its stack alone: the innermost function that is no part of the scheduler says it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from wblab.analysis.why.sleeps import (
    BUFFER_LOCKERS,
    BUFFER_USERS,
    BUFFER_WAITS,
    CALLERS,
    NATURES,
    PRIMITIVES,
    PURPOSES,
    SCHEDULER,
    SLEEPS,
    SWAP_WAITS,
    SWAPS,
    UNSEEN,
    WORDS,
    Shared,
)

UNKNOWN = "unknown"
_PASSED = SCHEDULER | PRIMITIVES
_TRACERS = ("trace_event_", "__traceiter_", "ftrace_", "perf_trace_", "bpf_", "__bpf_")  # what took the stack
_FOR_A_PURPOSE = ("lock", "work")
_SAYING = frozenset(
    caller for shared in CALLERS.values() for _, callers in (*shared.callers, *shared.next_to) for caller in callers
)


@dataclass(frozen=True)
class Wait:
    """What a stack says.

    kind: of `wblab.analysis.why.kinds`, or "unknown". what: in words, after "waits". where: the function that says so,
    empty if none does. is_sure: it rests on no frames that the kernel itself marks as unsure, and the stack begins in
    the scheduler, where the text would show that. nature: as of kinds; "runs" for a task that did not wait.
    """

    kind: str
    what: str
    where: str = ""
    is_sure: bool = True
    nature: str = "waits"


def wait_in(names: Sequence[str], modules: Sequence[str] = (), *, is_sure: bool = True) -> Wait:
    """Return what a task waits for, by the functions of its stack, innermost first, and their modules, "" for none."""
    found = _wait_in(names, modules, is_sure=is_sure)
    if found.kind not in SWAP_WAITS and not (found.kind == UNKNOWN and found.where in CALLERS):
        return found
    said = next((name for name in names if name in SWAPS), "")
    return _known(SWAPS[said], said, is_sure=is_sure) if said and SWAPS[said] else found


def _wait_in(names: Sequence[str], modules: Sequence[str], *, is_sure: bool) -> Wait:
    at, inner = 0, ""
    while at < len(names) and is_passed(names[at]):
        inner = inner or names[at] * (names[at] in PRIMITIVES)
        at += 1
    if at == len(names):
        return Wait(UNKNOWN, "for something unknown: its stack ends in the scheduler", is_sure=is_sure)
    name, module = names[at], modules[at] if modules else ""
    outer = names[at + 1 :]
    if shared := CALLERS.get(name):
        return _of_shared(shared, name, outer, is_sure=is_sure)
    if _is_buffer(name, names[:at]):
        return _known("buffer", name, is_sure=is_sure)
    known = SLEEPS.get(name)
    if at == 0 and name in UNSEEN:
        return Wait(UNKNOWN, UNSEEN[name], name, is_sure)
    if known is None or (known.directly and inner):
        of = f" of the module {module}" if module else ""
        return Wait(UNKNOWN, f"for something unknown, in {name}(){of}", name, is_sure)
    purpose = _purpose(outer) if known.kind in _FOR_A_PURPOSE else None
    return _known(*(purpose or (known.kind, name)), is_sure=is_sure)


def _of_shared(shared: Shared, name: str, outer: Sequence[str], *, is_sure: bool) -> Wait:
    """Return what is waited for in a function of several uses, by the nearest caller that says it."""
    for kind, callers in shared.next_to:
        if outer and outer[0] in callers:
            return _known(kind, outer[0], is_sure=is_sure) if kind else Wait(UNKNOWN, shared.otherwise, name, is_sure)
    for caller in [name, *outer][: shared.near + 1]:
        for kind, callers in shared.callers:
            if caller in callers:
                return _known(kind, caller, is_sure=is_sure)
    if shared.kind:
        return _known(shared.kind, name, is_sure=is_sure)
    return Wait(UNKNOWN, shared.otherwise, name, is_sure)


def _is_buffer(name: str, passed: Sequence[str]) -> bool:
    """Whether a function waits for a block by what it has inlined."""
    how = next((wait for wait in BUFFER_WAITS if wait in passed), "")
    if name in BUFFER_LOCKERS:
        return how.endswith("_lock")
    is_io = any(action in passed for action in ("bit_wait_io", "sleep_on_buffer", "sync_buffer"))
    is_free = name not in SLEEPS or SLEEPS[name].directly  # __wait_on_buffer, called last, leaves no frame
    return bool(how) and is_io and bool(BUFFER_USERS.match(name)) and is_free


def is_passed(name: str) -> bool:
    """Whether a function says nothing of the reason: the scheduler's, a primitive, or what took the stack."""
    return name in _PASSED or name.startswith(_TRACERS)


def is_known(name: str) -> bool:
    """Whether a function says something of a wait, or that it says nothing."""
    return is_passed(name) or name in SLEEPS or name in CALLERS or name in _SAYING


def _purpose(outer: Iterable[str]) -> tuple[str, str] | None:
    """Return for what a lock is taken or work queued, if for one purpose only: the kind, and where it says so."""
    for name in outer:
        if name in PURPOSES:
            return PURPOSES[name], name
        known = SLEEPS.get(name)
        if not (known and known.kind in _FOR_A_PURPOSE) and name not in _PASSED:
            return None
    return None


def _known(kind: str, where: str, *, is_sure: bool) -> Wait:
    return Wait(kind, WORDS[kind], where, is_sure, NATURES[kind])
