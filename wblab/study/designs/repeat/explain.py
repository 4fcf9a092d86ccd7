"""Trace everything: the first event that differs between two runs is close to the reason."""

from dataclasses import replace

from wblab.core.spec import Spec
from wblab.core.units import Bytes
from wblab.kernels import Kernel, sort_events

# Traced as far as the kernel has them. The buffer is part of the guest's memory, so both runs need the same size.
_SYSTEMS = (
    "block",
    "ext4",
    "filemap",
    "irq",
    "jbd2",
    "kmem",
    "raw_syscalls",
    "sched",
    "signal",
    "syscalls",
    "task",
    "timer",
    "vmscan",
    "workqueue",
    "writeback",
    "xfs",
)
_BUFFER = Bytes(32 << 20)


def traced_fully(spec: Spec, kernel: Kernel) -> Spec:
    """Return the spec with every event of these systems that the kernel has."""
    events = sort_events(kernel, _SYSTEMS).traced
    return replace(spec, trace=replace(spec.trace, events=events, buffer=max(spec.trace.buffer, _BUFFER)))
