"""Of whom a process was born, as far as that can be told: it gets back what that one had."""

from collections import Counter
from typing import TypeVar

from wblab.machine.changes import IoPriority, Membership
from wblab.machine.processes import Identity

Held = TypeVar("Held", IoPriority, Membership)


def kin(held: list[Held], pid: int, identity: Identity) -> Held | None:
    """Return a change of a held process that is kin of `pid`: itself, its parent, or the eldest of its session.

    Of one that left its session too (a daemon) nothing is left to tell: what most of the others had will do.
    """
    for is_kin in (
        lambda change: change.pid == pid,
        lambda change: change.pid == identity.parent,
        lambda change: change.session == identity.session,
    ):
        if found := list(filter(is_kin, held)):
            return min(found, key=lambda change: change.start_ticks)
    counts = Counter(change.old for change in held)
    return max(held, key=lambda change: counts[change.old], default=None)
