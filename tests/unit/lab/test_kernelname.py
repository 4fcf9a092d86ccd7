"""The names of kernels."""

import pytest

from wblab.lab.kernelname import variants_of


@pytest.mark.parametrize(
    ("name", "variants"),
    [
        ("7.3+hz-1000", "+hz-1000"),
        ("7.3+one+two", "+one+two"),
        ("7.3", ""),
        ("", ""),
        ("/home/me/linux+mine/linux", ""),
    ],
)
def test_the_variants_in_a_name(name, variants):
    assert variants_of(name) == variants
