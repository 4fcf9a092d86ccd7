"""The memory that kernels left to guests of earlier labs. Dirty limits in per cent are shares of it, so they differed.

Today each guest leaves its loads what its spec says (wblab.guest.memory), and its record has `memory`.
"""

import re
from collections.abc import Mapping
from pathlib import Path

from wblab.core.files import read_json
from wblab.core.units import Bytes
from wblab.lab.formats import CONSOLE, EXPERIMENT

_LINE = re.compile(rb"Memory: (\d{1,15})K/\d+K available")  # mem_init_print_info() in mm/mm_init.c
_MIB = 1 << 20
_MOST_BYTES = 1 << 16  # the line is one of the first
_SAME = 0.001  # a smaller share changes no limit by more than a page or two
_LIMIT_IN_BYTES = "vm.dirty_bytes"


def left_bytes(run: Path) -> Bytes | None:
    """Return how much memory the kernel of a run left at its start; None if its console does not say so."""
    try:
        with (run / CONSOLE).open("rb") as file:
            found = _LINE.search(file.read(_MOST_BYTES))
    except OSError:
        return None
    return Bytes(int(found[1]) << 10) if found else None


def unequal(runs: Mapping[str, Path]) -> str:
    """Return a note if kernels left different memory to runs of earlier labs with limits in per cent; else nothing.

    runs: a run of each kernel, by its name.
    """
    affected = {name: run for name, run in runs.items() if _is_affected(run)}
    left = {name: found for name, run in affected.items() if (found := left_bytes(run))}
    if len(left) < 2 or max(left.values()) <= (1 + _SAME) * min(left.values()):
        return ""
    each = ", ".join(f"{name} {found / _MIB:.1f} MiB" for name, found in left.items())
    most = f"{100 * (max(left.values()) / min(left.values()) - 1):.1f} %"
    return (
        f"the kernels leave different memory to the guest: {each}. Dirty limits in per cent differ as much, by up to "
        f"{most}: part of a difference may be due to that. To exclude it, make the runs anew: guests are equal now"
    )


def _is_affected(run: Path) -> bool:
    """Whether a run is of an earlier lab, with limits in per cent."""
    try:
        record = read_json(run / EXPERIMENT)
        return "memory" not in record and not int(record["spec"]["sysctl"].get(_LIMIT_IN_BYTES, 0))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return True
