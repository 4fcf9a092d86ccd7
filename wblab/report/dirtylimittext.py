"""Words for the limit of dirty memory that throttled a writer, and the setting that lifts it."""

from wblab.analysis.why.dirtylimits import DirtyLimit
from wblab.analysis.why.parties import READ
from wblab.analysis.why.polling import KeptByWriteback, Polling
from wblab.report.quantities import duration, enumerated, size

# What a program that polls may have waited for, as far as a trace shows.


def looked(polling: Polling) -> str:
    """Return how a task looked for something, and what it may have waited for, as a clause of a sentence."""
    return "; ".join(_clauses(polling))


def polled(polling: Polling) -> list[str]:
    """Return the same as sentences for the detail of a pause."""
    first, *others = _clauses(polling)
    return [f"{first}.", *(f"{text[0].upper()}{text[1:]}." for text in others)]


def _clauses(polling: Polling) -> list[str]:
    if polling.is_known:
        went = enumerated([f"{_of(each)}, and then {each.did}" for each in polling.kept])
        return [f"{_slept(polling)}", f"it waited for {went}"]
    if polling.sought:
        return [
            _slept(polling),
            f"it looked for {polling.sought}, which {polling.by} without waiting long for writeback",
        ]
    unseen = "the trace does not show what it looked for"
    if not polling.kept:
        return [_slept(polling), f"{unseen}, and no task that had waited for writeback went on before its last look"]
    went = enumerated([_of(each) for each in polling.kept])
    return [_slept(polling), unseen, f"it may have waited for {went}, and went on before its last look"]


def _slept(polling: Polling) -> str:
    how = "slept" if polling.is_asleep else "slept or waited with a timeout"
    if polling.times == 0:
        return f"{polling.task} was running, and may have looked for something all the time"
    if polling.times == 1:
        return f"{polling.task} {how} once, and may have looked for something before and after"
    most = duration(polling.longest_ns)
    return f"{polling.task} {how} {polling.times} times, {most} at most, as a program that polls does"


def _of(kept: KeptByWriteback) -> str:
    waited = f"{kept.name}, which had waited for writeback for {duration(kept.kept_ns)}"
    if kept.request and (first := next(iter(kept.request.ahead), "")) and first != kept.name:
        waited += f" behind data {first}" if first.startswith(READ) else f" behind data of {first}"
    return waited


_LIFTED = {
    "strict_limit": "0",
    "max_ratio": "100",
    "max_ratio_fine": "1000000",
    "max_bytes": "0",
    "memory.max": "max",
    "memory.high": "max",
}


def slows(limit: DirtyLimit) -> str:
    """Return whom the kernel slows or stops for a limit, and when, as a clause."""
    return f"the kernel {'stops' if limit.stops else 'slows'} every writer{_near(limit)}"


def _near(limit: DirtyLimit) -> str:
    of = f" of {size(limit.size)}" if limit.size else ""
    if limit.of == "disk":
        what = "mount" if limit.is_mount else "disk"
        return f" to that {what} when its dirty memory is near the {what}'s own limit{of}"
    if limit.of == "group":
        return f" of that group when the group's dirty memory is near its limit{of}, a share of the group's memory"
    return " when dirty memory is near the limit"


def what(limit: DirtyLimit) -> str:
    """Return why a writer waited, after "waited"."""
    return f"because {slows(limit)}"


def group_words(limit: DirtyLimit) -> str:
    """Return a limit's control group in words."""
    return f"the control group *{limit.name}*" if limit.name else "its control group"


def lifted(limit: DirtyLimit, disk: str) -> tuple[str, str]:
    """Return in words what lifts a limit, and the setting KEY=VALUE; both empty if the spec does not set it.

    disk: in words, the one that the limit is for if it is a disk's.
    """
    if not limit.set_by:
        return "", ""
    key = limit.set_by[0]
    value = next(value for end, value in _LIFTED.items() if key.endswith(f".{end}"))
    if limit.of == "disk":
        return f"no dirty limit of its own for {disk}", f"{key}={value}"
    return f"no limit of memory for {group_words(limit)}", f"{key}={value}"
