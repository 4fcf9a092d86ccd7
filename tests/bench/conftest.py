"""Which kernel is measured: the default one, or the one that $WBLAB_KERNEL names (a series or a path)."""

import os

import pytest

from wblab.kernels import Kernel, find_kernel

_NAMED = os.environ.get("WBLAB_KERNEL")


@pytest.fixture(scope="session")
def kernel() -> Kernel:
    built = find_kernel(_NAMED)
    assert built, "this kernel is not built: run 'make kernel' or 'wblab kernel build'"
    return built


@pytest.fixture(scope="session")
def on_kernel(kernel: Kernel) -> list[str]:
    """Return the option that has a command use it."""
    return ["--kernel", _NAMED] if _NAMED else []
