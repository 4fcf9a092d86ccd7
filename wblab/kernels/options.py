"""The options that a kernel was built with, as far as they are known."""

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from wblab.kernels.config import parse_config
from wblab.kernels.kernel import Kernel


def options_of(kernel: Kernel) -> Mapping[str, str] | None:
    """Return the values of a kernel's options that are set, by names with CONFIG_; None if nothing says them."""
    if kernel.config is None or not kernel.config.is_file():
        return None
    return _parsed(kernel.config.read_text(errors="replace"))


@cache  # a study asks for each of its cells
def _parsed(text: str) -> Mapping[str, str]:
    return MappingProxyType(parse_config(text))
