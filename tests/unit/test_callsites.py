"""Frames of a stack held against code: what a call can call, and what it cannot."""

import struct

import numpy as np
import pytest
from support.callsites import CallSites, Code, pairs
from tracecmd import Symbols

START = 0x60001000
OUTER, INNER, OTHER, COLD = START, START + 0x400, START + 0x800, START + 0xC00
RETURNED = INNER + 0x20  # an address in the inner function
AT = 0x100  # where the call ends in the outer function


def movabs(register, value):
    return bytes([0x48 | register >> 3, 0xB8 | register & 7]) + struct.pack("<Q", value)


def relative(target):
    return b"\xe8" + struct.pack("<i", target - (OUTER + AT))


def sites(call, before=b"", cold=b""):
    """Return the calls of a kernel in which the outer function has some code before a call that ends at AT."""
    content = bytearray(b"\x90" * 0x1000)
    content[0x40 : 0x40 + len(before)] = before
    content[AT - len(call) : AT] = call
    content[COLD - START : COLD - START + len(cold)] = cold
    names = {OUTER: "outer", INNER: "inner", OTHER: "other", COLD: "outer.cold", COLD + 0x200: "inner.cold"}
    text = "".join(f"{address:x} t {name}\n" for address, name in names.items())
    return CallSites(Code(((START, bytes(content)),)), Symbols(text))


CALL_RAX, CALL_R12 = b"\xff\xd0", b"\x41\xff\xd4"
FROM_MEMORY = b"\x48\x8b\x43\x18"  # mov 0x18(%rbx), %rax
FROM_REGISTER = b"\x48\x89\xd8"  # mov %rbx, %rax


@pytest.mark.parametrize(
    ("call", "before", "holds"),
    [
        (relative(INNER), b"", "true"),
        (relative(OTHER), b"", "false"),
        (CALL_RAX, movabs(0, INNER), "true"),
        (CALL_RAX, movabs(0, OTHER), "false"),
        (CALL_RAX, movabs(3, INNER), "possible"),  # another register
        (CALL_RAX, b"", "possible"),
        (CALL_RAX, movabs(0, OTHER) + FROM_MEMORY, "possible"),
        (CALL_RAX, movabs(0, OTHER) + FROM_REGISTER, "possible"),
        (CALL_RAX, FROM_MEMORY + movabs(0, OTHER), "false"),
        (CALL_RAX, movabs(0, INNER) + movabs(0, OTHER), "true"),  # a branch may lead past the second
        (CALL_R12, movabs(12, INNER), "true"),
        (CALL_R12, movabs(12, OTHER), "false"),
        (CALL_R12, movabs(4, OTHER), "possible"),
        (b"\xff\x50\x18", b"", "possible"),  # call *0x18(%rax)
        (b"\xff\x14\xc5\x00\x10\x00\x60", b"", "possible"),  # call *0x60001000(,%rax,8)
        (b"\xff\x15\x00\x00\x00\x00", b"", "possible"),  # call *0(%rip)
        (b"\x90\x90", movabs(0, INNER), "false"),
        (b"\xff\xe0", movabs(0, INNER), "false"),  # a jump
    ],
)
def test_a_frame_must_be_what_the_call_before_it_calls(call, before, holds):
    assert sites(call, before).holds(RETURNED, OUTER + AT) == holds


def test_the_unlikely_part_of_a_function_is_the_same_function():
    assert sites(relative(INNER)).holds(COLD + 0x220, OUTER + AT) == "true"
    assert sites(CALL_R12, cold=movabs(12, INNER)).holds(RETURNED, OUTER + AT) == "true"


def test_a_call_that_ends_a_function_is_of_that_function():
    """The address behind the last call, of a function that does not return, belongs to the next function."""
    assert sites(relative(INNER)).holds(OTHER, OUTER + AT) == "true"


def test_an_address_outside_of_the_code_is_no_frame():
    assert sites(relative(INNER)).holds(RETURNED, 0x1000) == "false"


def test_pairs_are_counted():
    stacks = [np.array(stack, np.uint64) for stack in ([1, 2, 3], [2, 3], [4], [])]
    assert pairs(stacks) == {(1, 2): 1, (2, 3): 2}
