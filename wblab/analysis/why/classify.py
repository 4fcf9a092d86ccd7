"""Classification of a wait by two stacks: the sleeper's and the waker's."""

from dataclasses import dataclass
from itertools import takewhile
from typing import Literal

from wblab.analysis.why.kinds import KINDS, TIMER, UNKNOWN, Kind
from wblab.analysis.why.offcpu import Stack

# Functions in which an interrupt begins: functions outside belong to the task that happened to run.
_INTERRUPT = frozenset(
    (
        *("do_IRQ", "um_timer", "timer_handler", "sigio_handler", "handle_irq_desc", "irq_exit"),
        *("common_interrupt", "asm_common_interrupt", "asm_exc_nmi"),  # arch/x86/include/asm/idtentry.h
        *("el1_interrupt", "el0_interrupt", "call_on_irq_stack", "do_irq"),  # arm64, riscv
        *("handle_softirqs", "__do_softirq", "do_softirq", "irq_exit_rcu", "__irq_exit_rcu"),  # kernel/softirq.c
    )
)
_VECTORS = ("sysvec_", "asm_sysvec_")  # prefixes on x86
_COMPLETED = frozenset(
    (
        *("blk_update_request", "blk_mq_end_request", "__blk_mq_end_request", "bio_endio", "__blk_mq_free_request"),
        *("blk_mq_free_request", "__rq_qos_done"),
    )
)
_TIMERS = frozenset((*TIMER, "hrtimer_wakeup", "delayed_work_timer_fn"))

_ANSWERED = "fuse_request_end"  # called by the task that answers for a filesystem's server

Context = Literal["request", "answer", "timer", "interrupt", "task", "unknown"]


@dataclass(frozen=True)
class Classified:
    """Classification of a wait: its kind, UNKNOWN unless both stacks agree, and the context of its wake-up.

    said: the kind by the sleeper's stack alone. vain: how often the task was woken before, only to sleep again.
    """

    kind: Kind
    said: Kind
    context: Context
    vain: int = 0


def judged(sleep: Stack, wake: Stack) -> Classified:
    """Classify a wait by the sleeper's and the waker's stack."""
    inside = in_context(wake)
    asleep, awake = frozenset(sleep), frozenset(inside)
    fitting = [
        kind
        for kind in KINDS
        if not asleep.isdisjoint(kind.sleeps) and (not kind.besides or not asleep.isdisjoint(kind.besides))
    ]
    said = fitting[0] if fitting else UNKNOWN
    slept_in = asleep.intersection(said.sleeps)
    alike = [each for each in fitting if each.name == said.name or not slept_in.isdisjoint(each.sleeps)]
    if sleep and not wake and said.by_itself:
        return Classified(said, said, "timer")
    agreed = [each for each in alike if not each.wakes or not awake.isdisjoint(each.wakes)]
    kind = agreed[0] if agreed else UNKNOWN
    return Classified(kind, kind if agreed else said, _context(wake, awake))


def in_context(wake: Stack) -> Stack:
    """Return the waker's functions without those of the task that an interrupt interrupted."""
    return tuple(takewhile(lambda name: name not in _INTERRUPT and not name.startswith(_VECTORS), wake))


def _context(wake: Stack, awake: frozenset[str]) -> Context:
    if not wake:
        return "unknown"
    if not awake.isdisjoint(_COMPLETED):
        return "request"
    if _ANSWERED in awake:
        return "answer"
    if not awake.isdisjoint(_TIMERS):
        return "timer"
    return "interrupt" if len(in_context(wake)) < len(wake) else "task"
