"""The time that a call slept in each kernel function and below it: a function tracer's result, for sleep only.

The stack of each sleep lists the functions that were entered and not left. For sleep that equals a function tracer; it
does not show running time. UML has no function tracer, and its code takes no virtual time.
"""

from collections import Counter
from collections.abc import Iterable

from wblab.analysis.why.recorded import Recorded
from wblab.analysis.why.stacks import Stack

# Stephens's layers: functions with these prefixes, each with all that it calls; nested ones count again.
PREFIXES = {"FS": ("ext2_", "ext4_", "xfs_", "btrfs_", "f2fs_"), "MM": ("generic_",), "block": ("blk_",)}
_SLEEPS = "__schedule"


def asleep_in(recorded: Recorded, pid: int, start_ns: int, end_ns: int) -> list[tuple[Stack, int]]:
    """Return the stacks of all sleeps of a task in a span of time, with their durations in ns."""
    spans = recorded.offcpu
    found = []
    for row in spans.rows(pid, start_ns, end_ns):
        slept_ns = min(int(spans.woken_ns[row]), end_ns) - max(int(spans.ts_ns[row]), start_ns)
        if slept_ns > 0:
            found.append((_entered(recorded.sleep_stack(row)), slept_ns))
    return found


def _entered(stack: Stack) -> Stack:
    """Return a stack without the tracer's own functions."""
    return stack[stack.index(_SLEEPS) :] if _SLEEPS in stack else stack


def inclusive(sleeps: Iterable[tuple[Stack, int]]) -> dict[str, int]:
    """Return for each function how long it, or a function that it called, slept, in ns; the most first."""
    found: Counter[str] = Counter()
    for stack, slept_ns in sleeps:
        for name in set(stack):
            found[name] += slept_ns
    return dict(found.most_common())


def summed(functions: dict[str, int]) -> dict[str, int]:
    """Return the sums of the functions with each prefix, as Stephens computes them: nested ones count again."""
    return {
        layer: sum(time_ns for name, time_ns in functions.items() if name.startswith(prefixes))
        for layer, prefixes in PREFIXES.items()
    }


def once(sleeps: Iterable[tuple[Stack, int]]) -> dict[str, int]:
    """Return how long at least one function with each prefix was entered: nothing counts again within a layer."""
    listed = list(sleeps)
    return {
        layer: sum(slept_ns for stack, slept_ns in listed if any(name.startswith(prefixes) for name in stack))
        for layer, prefixes in PREFIXES.items()
    }
