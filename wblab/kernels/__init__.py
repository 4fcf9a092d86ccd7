"""The kernel stage: fetch, patch, configure and build User Mode Linux, and keep what was built."""

from wblab.kernels.features import features, left_out, unknown_events, why_left_out
from wblab.kernels.kernel import Kernel
from wblab.kernels.make import build_tools
from wblab.kernels.wanted import (
    Listed,
    build_kernel,
    build_tree,
    built_kernel,
    find_kernel,
    full_name,
    list_kernels,
)

__all__ = [
    "Kernel",
    "Listed",
    "build_kernel",
    "build_tools",
    "build_tree",
    "built_kernel",
    "features",
    "find_kernel",
    "full_name",
    "left_out",
    "list_kernels",
    "unknown_events",
    "why_left_out",
]
