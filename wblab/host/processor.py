"""One processor for one guest: in virtual time a guest and its processes take turns and never run side by side.

On one processor they hand over without waking another, which a scheduler that knows nothing of this would do at
every system call of the guest. The threads of an emulator have to take turns, or else its runs do not repeat.
"""

import os
import socket
from dataclasses import dataclass


@dataclass(frozen=True)
class ProcessorClaim:
    """A processor that is ours among the lab's guests for as long as the claim is held, or None if all are taken."""

    processor: int | None
    held: socket.socket


def claim_processor(*, shared: bool = False) -> ProcessorClaim:
    """Claim one of the processors that we may run on. shared: if all are taken, one that another guest has.

    A claim is a bound socket of the abstract namespace (unix(7)): nothing is left of it when its holder dies.
    """
    held = socket.socket(socket.AF_UNIX)
    for processor in sorted(os.sched_getaffinity(0), reverse=True):  # the host's own interrupts favour the first
        try:
            held.bind(f"\0wblab-processor-{processor}")
        except OSError:
            continue
        return ProcessorClaim(processor, held)
    return ProcessorClaim(min(os.sched_getaffinity(0)) if shared else None, held)
