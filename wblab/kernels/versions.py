"""The order of kernel versions."""

import re


def ordinal(version: str) -> tuple[int, ...]:
    """Return a version's numbers, so that 6.12 sorts after 6.1."""
    return tuple(int(number) for number in re.findall(r"\d+", version))
