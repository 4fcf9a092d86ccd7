"""How much memory a guest is booted with, so that its loads have what the spec says (wblab.guest.memory)."""

from wblab.core.spec import Spec
from wblab.core.units import Bytes

# The most that the kernel, the guest's set-up, up to 25 loads, and each agent take before the loads start. What they do
# not take is never touched, so it costs the host nothing.
_SET_UP_BYTES, _AGENT_BYTES = 160 << 20, 64 << 20
_PAGE_BYTES, _STRUCT_PAGE_BYTES = 4096, 64  # the kernel keeps the second for each page
_MIB = 1 << 20


def boot_bytes(spec: Spec, processors: int = 1) -> Bytes:
    """Return the memory of the guest's machine: the spec's, and what is taken before the loads start."""
    trace = spec.trace.buffer * processors if spec.trace.events else 0
    used = spec.memory + spec.held_bytes + trace + _SET_UP_BYTES + len(spec.agent) * _AGENT_BYTES
    total = used * _PAGE_BYTES // (_PAGE_BYTES - _STRUCT_PAGE_BYTES)
    return Bytes(-(-total // _MIB) * _MIB)
