"""seccomp: a process gives up all system calls of the host but those on a list.

A call that is refused fails with EPERM. That is weaker than the trap with which User Mode Linux catches the calls of
its guest's programs (SECCOMP_RET_TRAP), so that the two filters do not meet; see seccomp(2).
Source: Documentation/userspace-api/seccomp_filter.rst, include/uapi/linux/{bpf_common,filter,seccomp}.h.
"""

import ctypes
import errno
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from wblab.core.syscalls import checked, libc

_SYS_SECCOMP, _SET_MODE_FILTER = 317, 1
_SPEC_ALLOW = 1 << 2  # no slower by mitigations that older kernels switch on for whoever uses seccomp
_AUDIT_ARCH_X86_64 = 0xC000003E
_X32 = 0x40000000  # the bit in the numbers of a second set of calls, which is not known here

_LOAD, _JUMP_EQUAL, _JUMP_SET, _AND, _RETURN = 0x20, 0x15, 0x45, 0x54, 0x06
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16  # offsets in struct seccomp_data
_KILL, _ERRNO, _ALLOW = 0x80000000, 0x00050000, 0x7FFF0000
_REFUSE, _UNKNOWN = _ERRNO | errno.EPERM, _ERRNO | errno.ENOSYS


@dataclass(frozen=True)
class Bits:
    """A condition: the `mask` of an argument (0 to 5; its lower 32 bits) is `value`."""

    argument: int
    mask: int
    value: int


# By a call's number, the alternatives of which one must hold; each is a tuple of conditions that must hold together.
Rules = Mapping[int, tuple[tuple[Bits, ...], ...]]


class _Instruction(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint16), ("jt", ctypes.c_uint8), ("jf", ctypes.c_uint8), ("k", ctypes.c_uint32))


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_uint16), ("filter", ctypes.POINTER(_Instruction)))


Step = tuple[int, int, int, int]


def program(allowed: Iterable[int], rules: Rules, unknown: Collection[int] = ()) -> list[Step]:
    """Return the filter as (code, jump if true, jump if false, operand).

    Calls are looked up in the order of `allowed`: the most frequent ones first. `unknown` calls fail with ENOSYS, as on
    an older kernel, so that the C library tries another one.
    """
    steps: list[Step] = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_JUMP_EQUAL, 1, 0, _AUDIT_ARCH_X86_64),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER),
        (_JUMP_SET, 0, 1, _X32),
        (_RETURN, 0, 0, _UNKNOWN),
    ]
    for number in allowed:
        steps += [(_JUMP_EQUAL, 0, 1, number), (_RETURN, 0, 0, _ALLOW)]
    for number in unknown:
        steps += [(_JUMP_EQUAL, 0, 1, number), (_RETURN, 0, 0, _UNKNOWN)]
    for number in sorted(rules):
        block = [step for alternative in rules[number] for step in _alternative(alternative)]
        steps += [(_JUMP_EQUAL, 0, len(block) + 1, number), *block, (_RETURN, 0, 0, _REFUSE)]
    return [*steps, (_RETURN, 0, 0, _REFUSE)]


def _alternative(conditions: tuple[Bits, ...]) -> list[Step]:
    """Return steps that allow the call if all conditions hold, and else go on behind them."""
    steps: list[Step] = []
    left = 3 * len(conditions) + 1  # steps from here to behind the last one
    for bits in conditions:
        steps += [
            (_LOAD, 0, 0, _ARGUMENTS + 8 * bits.argument),
            (_AND, 0, 0, bits.mask),
            (_JUMP_EQUAL, 0, left - 3, bits.value),
        ]
        left -= 3
    return [*steps, (_RETURN, 0, 0, _ALLOW)]


def install(steps: list[Step]) -> None:
    """Filter the calls of this thread and its children from now on. no_new_privs must be set. Raises OSError."""
    instructions = (_Instruction * len(steps))(*(_Instruction(*step) for step in steps))
    filtered = _Program(len(steps), instructions)
    checked(libc.syscall(_SYS_SECCOMP, _SET_MODE_FILTER, _SPEC_ALLOW, ctypes.byref(filtered)), "seccomp")
