"""The names of kernels: a series or a path, with variants and options after it: 7.3+hz-1000, 7.3+PREEMPT=y.

One that runs on several processors has their number too: 7.3+smp@4.
"""

import re
from collections.abc import Mapping

from wblab.core.errors import InputError

VARIANT = "+"  # 7.3+hz-1000 is 7.3 with one more patch
# No slash: an option names no file of the host, and the name of a kernel is no path.
_VALUE = re.compile(r"[A-Za-z0-9_.,:-]*")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_]*")
_PREFIX = "CONFIG_"
# Not in the middle of a path.
_PROCESSORS = re.compile(r"@([1-9][0-9]?)(?=\+|$)")
_SERIES = re.compile(r"[0-9]+\.[0-9]+(?:\+[^/:@]+)?")
_OPTION = re.compile(rf"\+({_NAME.pattern})=({_VALUE.pattern})(?=\+|$)")


def variants_of(name: str) -> str:
    """Return the variants and options in the name of a kernel: +hz-1000+PREEMPT=y. A path has no variants."""
    plain, options = options_in(name)
    return named("" if "/" in plain else "".join(plain.partition(VARIANT)[1:]), options)


def options_in(name: str) -> tuple[str, dict[str, str]]:
    """Return a kernel's name without its options, and the options, of which the last counts."""
    return _OPTION.sub("", name), dict(_OPTION.findall(name))


def processors_in(name: str) -> tuple[str, int]:
    """Return a kernel's name without its number of processors, and the number, which is 1 if the name has none."""
    found = _PROCESSORS.search(name)
    return (_PROCESSORS.sub("", name, count=1), int(found[1])) if found else (name, 1)


def with_processors(name: str, processors: int) -> str:
    """Return a kernel's name with its number of processors, which has one spelling only: 1 is left out."""
    return name if processors == 1 else f"{name}@{processors}"


def with_variants(name: str, more: str) -> str:
    """Return the name of a series with further variants, and perhaps processors: 7.3 and +smp@4 give 7.3+smp@4.

    Raises InputError for a kernel that takes none: a path, a distribution's, one with its own number of processors.
    """
    if not _SERIES.fullmatch(name):
        raise InputError(f"it needs a kernel of the lab with {more}, such as 7.2{more}, and {name} takes no variants")
    added, processors = processors_in(more)
    plain, options = options_in(name)
    parts = dict.fromkeys((plain + added).split(VARIANT))
    return named(with_processors(VARIANT.join(parts), processors), options)


def named(plain: str, options: Mapping[str, int | str]) -> str:
    """Return the name of a kernel with options, which has one spelling only."""
    return plain + "".join(f"{VARIANT}{option}={options[option]}" for option in sorted(options))


def check_option(name: str, value: int | str, key: str) -> None:
    """Raise InputError for what is no option of a kernel's configuration. key: where it stands."""
    if name.startswith(_PREFIX):
        raise InputError(f"{key}: write {name.removeprefix(_PREFIX)}, without {_PREFIX}")
    if not _NAME.fullmatch(name):
        raise InputError(f"{key}: {name!r} is not the name of an option: write for example PREEMPT")
    if not _VALUE.fullmatch(str(value)):
        raise InputError(f"{key}: {value!r} is not a plain value: give y, n, a number or a text without spaces and '/'")


# The order of kernel versions.


def ordinal(version: str) -> tuple[int, ...]:
    """Return a version's numbers, so that 6.12 sorts after 6.1."""
    return tuple(int(number) for number in re.findall(r"\d+", version))
