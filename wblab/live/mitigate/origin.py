"""Find the held process that another one descends from: a process born held gets back that one's earlier setting."""

from collections import Counter
from typing import TypeVar

from wblab.machine.changes import IoPriority, Membership
from wblab.machine.processes import Identity

Held = TypeVar("Held", IoPriority, Membership)


def origin_of(held: list[Held], pid: int, identity: Identity) -> Held | None:
    """Return the change of the held process that `pid` descends from; None if no process is held.

    That is the process itself, or else its parent, or else the oldest held process of its session. A daemon that lost
    its parent and left its session has no trace of its origin: it gets the most frequent earlier setting.
    """
    for is_origin in (
        lambda change: change.pid == pid,
        lambda change: change.pid == identity.parent,
        lambda change: change.session == identity.session,
    ):
        if found := list(filter(is_origin, held)):
            return min(found, key=lambda change: change.start_ticks)
    counts = Counter(change.old for change in held)
    return max(held, key=lambda change: counts[change.old], default=None)
