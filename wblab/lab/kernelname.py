"""The names of kernels: a series, with variants after it, or a path."""

VARIANT = "+"  # 7.3+hz-1000 is 7.3 with one more patch


def variants_of(name: str) -> str:
    """Return the variants in the name of a kernel, as it has them: +hz-1000; empty for none, and for a path."""
    return "" if "/" in name else "".join(name.partition(VARIANT)[1:])
