"""How long a call was asleep in each kernel function and below it: what a function tracer would say, of sleep alone.

A stack at each sleep says which functions had been entered and not left. That is no less than a function tracer sees of
sleep; of work it says nothing. UML has no function tracer, and its code takes no virtual time.
"""

from collections import Counter
from collections.abc import Iterable

from wblab.why.recorded import Recorded
from wblab.why.stacks import Stack

# His layers: names that begin so, each function with all that it calls, and those within another counted again.
PREFIXES = {"FS": ("ext2_", "ext4_", "xfs_", "btrfs_", "f2fs_"), "MM": ("generic_",), "block": ("blk_",)}
_SLEEPS = "__schedule"


def asleep_in(recorded: Recorded, pid: int, start_ns: int, end_ns: int) -> list[tuple[Stack, int]]:
    """Return the stacks with which a task slept in a span of time, and for how long in ns; none is left out."""
    spans = recorded.offcpu
    found = []
    for row in spans.rows(pid, start_ns, end_ns):
        slept_ns = min(int(spans.woken_ns[row]), end_ns) - max(int(spans.ts_ns[row]), start_ns)
        if slept_ns > 0:
            found.append((_entered(recorded.sleep_stack(row)), slept_ns))
    return found


def _entered(stack: Stack) -> Stack:
    """Return a stack without what traced it."""
    return stack[stack.index(_SLEEPS) :] if _SLEEPS in stack else stack


def inclusive(sleeps: Iterable[tuple[Stack, int]]) -> dict[str, int]:
    """Return for each function how long it or what it called slept, in ns; the most first."""
    found: Counter[str] = Counter()
    for stack, slept_ns in sleeps:
        for name in set(stack):
            found[name] += slept_ns
    return dict(found.most_common())


def summed(functions: dict[str, int]) -> dict[str, int]:
    """Return the sums of the functions of each prefix, as Stephens adds them up: nested ones count again."""
    return {
        layer: sum(time_ns for name, time_ns in functions.items() if name.startswith(prefixes))
        for layer, prefixes in PREFIXES.items()
    }


def once(sleeps: Iterable[tuple[Stack, int]]) -> dict[str, int]:
    """Return how long at least one function of each prefix was entered: nothing counts again within a layer."""
    listed = list(sleeps)
    return {
        layer: sum(slept_ns for stack, slept_ns in listed if any(name.startswith(prefixes) for name in stack))
        for layer, prefixes in PREFIXES.items()
    }
