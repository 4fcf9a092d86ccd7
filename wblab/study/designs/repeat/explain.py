"""Tracing everything: the first event in which two runs differ is near the reason."""

from dataclasses import replace

from wblab.core.spec import Spec
from wblab.core.units import Bytes
from wblab.kernels import Kernel, sort_events

# Of what the kernel has. The buffer is part of the guest's memory: both runs have the same.
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
    """Return a spec with as many events as a kernel has."""
    events = sort_events(kernel, _SYSTEMS).traced
    return replace(spec, trace=replace(spec.trace, events=events, buffer=max(spec.trace.buffer, _BUFFER)))
