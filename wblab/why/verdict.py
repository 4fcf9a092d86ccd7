"""What two stacks say of a wait: that of the sleep, and that of the wake-up."""

from dataclasses import dataclass
from typing import Literal

from wblab.why.kinds import KINDS, TIMER, UNKNOWN, Kind
from wblab.why.stacks import Stack

# Where an interrupt begins: what lies outside of it is whoever happened to run.
_INTERRUPT = frozenset(
    (
        *("do_IRQ", "um_timer", "timer_handler", "sigio_handler", "handle_irq_desc", "irq_exit"),
        *("common_interrupt", "asm_common_interrupt", "asm_sysvec_apic_timer_interrupt"),
        *("sysvec_apic_timer_interrupt", "asm_sysvec_call_function_single"),
    )
)
_COMPLETED = frozenset(
    ("blk_update_request", "blk_mq_end_request", "__blk_mq_end_request", "bio_endio", "__blk_mq_free_request")
)
_TIMERS = frozenset((*TIMER, "hrtimer_wakeup", "delayed_work_timer_fn"))

Context = Literal["request", "timer", "interrupt", "task", "unknown"]


@dataclass(frozen=True)
class Verdict:
    """What two stacks say of a wait: its kind, UNKNOWN unless both agree, and what ended it.

    said: what the stack of the sleep alone says. vain: how often the task was woken before, only to sleep again.
    """

    kind: Kind
    said: Kind
    context: Context
    vain: int = 0


def judged(sleep: Stack, wake: Stack) -> Verdict:
    """Return what the stack of a sleep and that of its wake-up say."""
    inside = in_context(wake)
    asleep, awake = frozenset(sleep), frozenset(inside)
    fitting = [
        kind
        for kind in KINDS
        if not asleep.isdisjoint(kind.sleeps) and (not kind.besides or not asleep.isdisjoint(kind.besides))
    ]
    said = fitting[0] if fitting else UNKNOWN
    agreed = [
        each for each in fitting if each.name == said.name and (not each.wakes or not awake.isdisjoint(each.wakes))
    ]
    kind = agreed[0] if agreed else UNKNOWN
    return Verdict(kind, said, _context(wake, awake))


def in_context(wake: Stack) -> Stack:
    """Return the functions of a wake-up without those that an interrupt interrupted."""
    at = next((index for index, name in enumerate(wake) if name in _INTERRUPT), len(wake))
    return wake[:at]


def _context(wake: Stack, awake: frozenset[str]) -> Context:
    if not wake:
        return "unknown"
    if not awake.isdisjoint(_COMPLETED):
        return "request"
    if not awake.isdisjoint(_TIMERS):
        return "timer"
    return "interrupt" if len(in_context(wake)) < len(wake) else "task"
