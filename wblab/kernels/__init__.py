"""The kernel stage: fetch, patch, configure, build and cache User Mode Linux."""

from wblab.kernels.features import SortedEvents, features, has_virtual_time, sort_events
from wblab.kernels.kernel import Kernel
from wblab.kernels.listed import Listed, list_kernels
from wblab.kernels.make import build_tools
from wblab.kernels.wanted import (
    KernelResolver,
    build_kernel,
    build_tree,
    built_kernel,
    built_kernels,
    check_patches,
    find_kernel,
    full_name,
    place_of_name,
    processors_of,
)

__all__ = [
    "Kernel",
    "KernelResolver",
    "Listed",
    "SortedEvents",
    "build_kernel",
    "build_tools",
    "build_tree",
    "built_kernel",
    "built_kernels",
    "check_patches",
    "features",
    "find_kernel",
    "full_name",
    "has_virtual_time",
    "list_kernels",
    "place_of_name",
    "processors_of",
    "sort_events",
]
