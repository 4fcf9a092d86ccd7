"""Recorded stacks held against the kernel's code: each frame must be able to call the one inside it.

An entry of a stack is a return address, so a call ends there. The kernel is compiled for addresses of 64 bits: a call
is `movabs $function, %register` and, perhaps much later, `call *%register`. Its target is that function, unless
something else was loaded into the register in between, such as a pointer from a table of operations.
"""

import struct
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from tracecmd import Symbols

# true: the outer function calls the inner one. possible: it calls through a pointer. false: it calls something else, or
# does not call.
Verdict = Literal["true", "possible", "false"]


@dataclass(frozen=True)
class Code:
    """A kernel's code: parts of memory, each with its first address."""

    parts: tuple[tuple[int, bytes], ...]

    def read(self, first: int, last: int) -> bytes:
        """Return the bytes of [first, last); none if they are not in one part."""
        for start, content in self.parts:
            if start <= first <= last <= start + len(content):
                return content[first - start : last - start]
        return b""


def read_code(kernel: Path) -> Code:
    """Read the segments of an executable (ELF, 64 bits) that are loaded and executable."""
    image = kernel.read_bytes()
    (table,), (size, count) = struct.unpack_from("<Q", image, 32), struct.unpack_from("<HH", image, 54)
    parts = []
    for place in range(table, table + size * count, size):
        kind, flags, offset, address, _, in_file = struct.unpack_from("<IIQQQQ", image, place)
        if kind == 1 and flags & 1:  # PT_LOAD, PF_X
            parts.append((address, image[offset : offset + in_file]))
    return Code(tuple(parts))


@dataclass(frozen=True)
class Loaded:
    """What an instruction writes to a register: the address where it ends, and the function, if the value is one."""

    register: int
    end: int
    function: int | None


@dataclass(frozen=True)
class CallSites:
    """The calls of a kernel: its code and its functions."""

    code: Code
    symbols: Symbols
    _found: dict[int, tuple[Loaded, ...]] = field(default_factory=dict)

    @cached_property
    def _starts(self) -> frozenset[int]:
        return frozenset(self.symbols.addresses.tolist())

    def holds(self, inner: int, outer: int) -> Verdict:
        """Return whether the function that `inner` returns to can have been called where `outer` returns to."""
        called = self._function(inner)
        before = self.code.read(outer - 8, outer)
        if len(before) < 8:
            return "false"
        if before[3] == 0xE8:
            (distance,) = struct.unpack("<i", before[4:])
            if outer + distance in self._starts:
                return self._same(outer + distance, called)
        if before[-2] == 0xFF and 0xD0 <= before[-1] <= 0xD7:
            return self._by_register(outer, before[-1] - 0xD0 + 8 * (before[-3] == 0x41), called)
        return "possible" if _calls_through_memory(before) else "false"

    def named(self, inner: int, outer: int) -> str:
        """Return a pair of frames in words: the functions, the inner one first."""
        return " > ".join(self._name(self._function(address)) for address in (inner, outer))

    def _by_register(self, outer: int, register: int, called: int) -> Verdict:
        loads = [load for load in self._loads(self._function(outer)) if load.register == register]
        if any(load.function is not None and self._same(load.function, called) == "true" for load in loads):
            return "true"
        earlier = [load for load in loads if load.end <= outer]
        return "possible" if not earlier or earlier[-1].function is None else "false"

    def _same(self, target: int, called: int) -> Verdict:
        return "true" if target == called or self._name(target) == self._name(called) else "false"

    def _function(self, returns_to: int) -> int:
        """Return the start of the function with the call that ends at an address."""
        at = int(np.searchsorted(self.symbols.addresses, np.uint64(returns_to - 1), side="right")) - 1
        return int(self.symbols.addresses[at]) if at >= 0 else 0

    def _name(self, start: int) -> str:
        """Return a function's name; its unlikely part, which lies elsewhere, has the same."""
        return self.symbols.names[int(np.searchsorted(self.symbols.addresses, np.uint64(start)))].partition(".cold")[0]

    def _loads(self, start: int) -> tuple[Loaded, ...]:
        """Return what is written to registers in a function and its unlikely part, in the order of addresses."""
        if start not in self._found:
            name = self._name(start)
            parts = [at for at, other in enumerate(self.symbols.names) if other in (name, f"{name}.cold")]
            loads = [load for at in parts for load in self._loads_in(*self._extent(at))]
            self._found[start] = tuple(sorted(loads, key=lambda load: load.end))
        return self._found[start]

    def _extent(self, at: int) -> tuple[int, int]:
        """Return the first address of a function and of the next one; several names may have the same address."""
        addresses = self.symbols.addresses
        following = addresses[np.searchsorted(addresses, addresses[at], side="right") :]
        return int(addresses[at]), int(following[0] if len(following) else addresses[at])

    def _loads_in(self, first: int, last: int) -> list[Loaded]:
        code = self.code.read(first, last)
        found = []
        for at in range(len(code) - 2):
            prefix, what, how = code[at : at + 3]
            if prefix in (0x48, 0x49) and 0xB8 <= what <= 0xBF and at + 10 <= len(code):  # movabs $value, %register
                (value,) = struct.unpack_from("<Q", code, at + 2)
                if value in self._starts:
                    found.append(Loaded(what - 0xB8 + 8 * (prefix & 1), first + at + 10, value))
            elif prefix == 0x48 and what == 0xA1 and at + 10 <= len(code):  # movabs memory, %rax
                found.append(Loaded(0, first + at + 10, None))
            elif prefix & 0xF8 == 0x48 and what == 0x8B:  # mov memory or register, %register
                found.append(Loaded((how >> 3 & 7) + 8 * (prefix >> 2 & 1), first + at + 3, None))
            elif prefix & 0xF8 == 0x48 and what == 0x89 and how >= 0xC0:  # mov register, %register
                found.append(Loaded((how & 7) + 8 * (prefix & 1), first + at + 3, None))
        return found


def _calls_through_memory(before: bytes) -> bool:
    """Return whether bytes end with a call of a pointer in memory: 2 to 8 bytes by the form of its address."""
    for length in range(2, 8):
        if before[-length] != 0xFF or before[-length + 1] >> 3 & 7 != 2:
            continue
        form, base = before[-length + 1] >> 6, before[-length + 1] & 7
        scaled = base == 4
        wide = form == 2 or (form == 0 and (base == 5 or (scaled and length >= 3 and before[-length + 2] & 7 == 5)))
        if form != 3 and length == 2 + scaled + (4 if wide else form):
            return True
    return False


def pairs(stacks: Iterable[NDArray[np.uint64]]) -> Counter[tuple[int, int]]:
    """Return how often each two entries are adjacent in stacks, the inner one first."""
    return Counter(pair for stack in stacks for pair in pairwise(stack.tolist()))
