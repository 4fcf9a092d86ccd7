"""The room of a ring buffer: it grows while what must be kept fills it, up to a part of the free memory."""

import re
from contextlib import suppress
from pathlib import Path

from wblab.core.units import Bytes
from wblab.machine.tracefs import Instance
from wblab.machine.writeback import available_bytes

_PART = 16  # of the free memory, for all processors: the dirty limits follow free memory, and must not move much
_FIRST_BYTES, _LEAST_BYTES = 32 << 20, 1 << 20  # for each processor
_BYTES = re.compile(r"^bytes: (\d+)$", re.MULTILINE)
_OLDEST = re.compile(r"^oldest event ts: +(\d+)\.(\d{6})$", re.MULTILINE)


def chosen(processors: int, free_bytes: int | None = None) -> tuple[Bytes, Bytes]:
    """Return the first and the largest size of each processor's buffer for this machine's memory, in bytes.

    free_bytes: of memory; by default, what is available now.
    """
    free_bytes = available_bytes() if free_bytes is None else free_bytes
    most = max(_LEAST_BYTES, free_bytes // _PART // max(1, processors))
    return Bytes(min(_FIRST_BYTES, most)), Bytes(most)


class Room:
    """The buffers of an instance, by processor. A buffer doubles before it would overwrite what must be kept."""

    def __init__(self, instance: Instance, most_bytes: int) -> None:
        """most_bytes: of each processor's buffer."""
        self._most_bytes = most_bytes
        self._places = sorted(instance.path.glob("per_cpu/cpu*"))

    def keep(self, since_ns: int, now_ns: int) -> None:
        """Make room to keep what was traced since a time, in ns of the instance's clock.

        A kernel that refuses, for want of memory, leaves a buffer as it is.
        """
        for place in self._places:
            with suppress(OSError, ValueError):
                self._keep(place, since_ns, now_ns)

    def _keep(self, place: Path, since_ns: int, now_ns: int) -> None:
        text = (place / "stats").read_text()
        used, oldest = _BYTES.search(text), _OLDEST.search(text)
        size_bytes = int((place / "buffer_size_kb").read_text().split()[0]) * 1024
        if not used or not oldest or 2 * int(used[1]) < size_bytes:
            return
        oldest_ns = int(oldest[1]) * 10**9 + int(oldest[2]) * 1000
        needed = min(1.0, (now_ns - since_ns) / max(1, now_ns - oldest_ns))  # events come evenly, more or less
        if 2 * needed * int(used[1]) < size_bytes:
            return
        if size_bytes < self._most_bytes:
            (place / "buffer_size_kb").write_text(str(min(2 * size_bytes, self._most_bytes) // 1024))
