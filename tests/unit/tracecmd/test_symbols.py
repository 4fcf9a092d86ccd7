"""Addresses of a stack become names of functions."""

import numpy as np
import pytest
from tracecmd import Symbols, TraceError

KALLSYMS = """\
0000000060001000 T schedule
0000000060001100 t helper.isra.0
0000000060000800 t early
0000000060002000 D a_variable
0000000060003000 t in_a_module	[md_mod]
"""


def functions(*addresses, text=KALLSYMS):
    return Symbols(text).functions(np.array(addresses, np.uint64))


def test_an_address_within_a_function_has_its_name():
    assert functions(0x60001004, 0x60001101, 0x60000801, 0x60003010) == ("schedule", "helper", "early", "in_a_module")


def test_a_call_at_the_end_of_a_function_is_of_that_function():
    """It never returns, so the address behind it is the first of the next function."""
    assert functions(0x60001100, 0x60001101) == ("schedule", "helper")


def test_what_lies_before_all_functions_has_no_name():
    assert functions(0, 0x600007FF, 0xFFFFFFFFFFFFFFFF) == ("in_a_module",)


def test_without_symbols_nothing_has_a_name():
    assert functions(0x60001004, text="") == ()


@pytest.mark.parametrize("text", ["x T schedule", "60001000 T", "fffffffffffffffff T f", "-1 T f", f"0 T {'f' * 600}"])
def test_another_form_is_refused(text):
    with pytest.raises(TraceError, match="symbols"):
        Symbols(text)
