"""Function names of the traced kernel, from the symbols saved by trace-cmd (/proc/kallsyms)."""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tracecmd.errors import TraceError

_CODE = frozenset("tTwW")
_MOST_LETTERS = 512  # length of a name; KSYM_NAME_LEN in include/linux/kallsyms.h
_LARGEST = (1 << 64) - 1


class Symbols:
    """A kernel's functions. `text` is in the form of /proc/kallsyms. Raises TraceError for another form."""

    def __init__(self, text: str) -> None:
        rows = [line.split(None, 3)[:3] for line in text.splitlines() if line]
        try:
            found = sorted((int(address, 16), name) for address, kind, name in rows if kind in _CODE)
        except ValueError:
            raise TraceError("the trace is damaged: its symbols are not a list of addresses and names") from None
        if any(len(name) > _MOST_LETTERS or not 0 <= address <= _LARGEST for address, name in found):
            raise TraceError("the trace is damaged: its symbols have names or addresses that no kernel has")
        self.addresses: NDArray[np.uint64] = np.array([address for address, _ in found], np.uint64)
        self.names: tuple[str, ...] = tuple(name for _, name in found)

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def _plain(self) -> tuple[str, ...]:
        return tuple(name.partition(".")[0] for name in self.names)

    def functions(self, stack: NDArray[np.uint64]) -> tuple[str, ...]:
        """Return the functions that a stack's addresses return to, in order.

        A call ends before the address to which it returns. If it never returns, as that of `do_task_dead`, this may be
        the first address of the next function. An address before all functions is left out. Compiler suffixes
        (`.isra.0`, `.cold`) are removed.
        """
        at = np.searchsorted(self.addresses, stack, side="left") - 1
        known = at >= 0
        return tuple(self._plain[index] for index in at[known].tolist())
