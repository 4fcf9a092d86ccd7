"""The options that a kernel was built with, as far as they are known."""

from wblab.kernels.config import parse_config
from wblab.kernels.kernel import Kernel


def options_of(kernel: Kernel) -> dict[str, str] | None:
    """Return the values of a kernel's options that are set, by names with CONFIG_; None if nothing says them."""
    if kernel.config is None or not kernel.config.is_file():
        return None
    return parse_config(kernel.config.read_text(errors="replace"))
