"""The names of kernels."""

import pytest

from wblab.core.errors import InputError
from wblab.lab.kernelname import (
    check_option,
    named,
    options_in,
    processors_in,
    variants_of,
    with_processors,
    with_variants,
)


@pytest.mark.parametrize(
    ("name", "variants"),
    [
        ("7.3+hz-1000", "+hz-1000"),
        ("7.3+one+two", "+one+two"),
        ("7.3+one+PREEMPT=y", "+one+PREEMPT=y"),
        ("7.3", ""),
        ("", ""),
        ("/home/me/linux+mine/linux", ""),
        ("/home/me/linux+mine/linux+HZ=250", "+HZ=250"),
    ],
)
def test_the_variants_in_a_name(name, variants):
    assert variants_of(name) == variants


@pytest.mark.parametrize(
    ("name", "plain", "options"),
    [
        ("7.3+B=y+one+A=250", "7.3+one", {"A": "250", "B": "y"}),
        ("7.3+A=y+A=n", "7.3", {"A": "n"}),
        ("+64BIT=n", "", {"64BIT": "n"}),
        ("7.3+LOCALVERSION=-x.1", "7.3", {"LOCALVERSION": "-x.1"}),
        ("7.3+A=b c", "7.3+A=b c", {}),
        ("/x+A=y/linux", "/x+A=y/linux", {}),
    ],
)
def test_the_options_in_a_name(name, plain, options):
    assert options_in(name) == (plain, options)


@pytest.mark.parametrize(
    ("name", "plain", "processors"),
    [
        ("7.3+smp@4", "7.3+smp", 4),
        ("7.3+smp@1", "7.3+smp", 1),
        ("7.3+smp", "7.3+smp", 1),
        ("@2", "", 2),
        ("7.3+smp@4+A=y", "7.3+smp+A=y", 4),
        ("7.3+smp+A=y@4", "7.3+smp+A=y", 4),
        ("/a@4/linux", "/a@4/linux", 1),
        ("/a@4/linux@2", "/a@4/linux", 2),
        ("7.3+smp@0", "7.3+smp@0", 1),  # no variant has that name
        ("7.3+smp@many", "7.3+smp@many", 1),
        ("7.3+smp@100", "7.3+smp@100", 1),
    ],
)
def test_the_processors_in_a_name(name, plain, processors):
    assert processors_in(name) == (plain, processors)


@pytest.mark.parametrize(
    ("name", "more", "whole"),
    [
        ("7.3", "+lock-stat", "7.3+lock-stat"),
        ("7.3", "+smp+one@4", "7.3+smp+one@4"),
        ("7.3+hz-250", "+smp@4", "7.3+hz-250+smp@4"),
        ("7.3+smp", "+smp@4", "7.3+smp@4"),
        ("7.3+A=y", "+one", "7.3+one+A=y"),
    ],
)
def test_a_series_takes_further_variants(name, more, whole):
    assert with_variants(name, more) == whole


@pytest.mark.parametrize("name", ["stock:7.2", "stock:7.2@4", "7.3+smp@4", "/home/me/linux", "linux", "live:/srv"])
def test_other_kernels_take_no_variants(name):
    with pytest.raises(InputError, match=r"^it needs a kernel of the lab with \+one, such as 7\.2\+one, and "):
        with_variants(name, "+one")


def test_one_processor_is_not_named():
    assert [with_processors("7.3+smp", number) for number in (1, 2)] == ["7.3+smp", "7.3+smp@2"]


def test_options_have_one_order():
    assert named("7.3+one", {"B": "y", "A": 250}) == "7.3+one+A=250+B=y"


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("CONFIG_PREEMPT", "y", "X: write PREEMPT, without CONFIG_"),
        ("PRE EMPT", "y", "X: 'PRE EMPT' is not the name of an option"),
        ("", "y", "X: '' is not the name of an option"),
        ("INITRAMFS_SOURCE", "/etc/passwd", "X: '/etc/passwd' is not a plain value: give y, n, a number or a text"),
        ("A", 'y"', "is not a plain value"),
        ("A", "y+B=n", "is not a plain value"),
    ],
)
def test_what_is_no_option_is_refused(name, value, message):
    with pytest.raises(InputError) as raised:
        check_option(name, value, "X")
    assert message in str(raised.value)


def test_numbers_and_texts_are_options():
    for value in ("y", "n", 250, "0x10", "cubic", ""):
        check_option("64BIT", value, "X")
