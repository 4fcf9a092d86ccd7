"""Words for the limit of dirty memory that throttled a writer, and the setting that lifts it."""

from wblab.analysis.why.dirtylimits import DirtyLimit
from wblab.report.quantities import size

_LIFTED = {
    "strict_limit": "0",
    "max_ratio": "100",
    "max_ratio_fine": "1000000",
    "max_bytes": "0",
    "memory.max": "max",
    "memory.high": "max",
}


def near(limit: DirtyLimit) -> str:
    """Return whom a limit slows and when, after "the kernel slows every writer"."""
    of = f" of {size(limit.size)}" if limit.size else ""
    if limit.of == "disk":
        return f" to that disk when its dirty memory is near the disk's own limit{of}"
    if limit.of == "group":
        return f" of that group when the group's dirty memory is near its limit{of}, a share of the group's memory"
    return " when dirty memory is near the limit"


def what(limit: DirtyLimit) -> str:
    """Return why a writer waited, after "waited"."""
    return f"because the kernel slows every writer{near(limit)}"


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
