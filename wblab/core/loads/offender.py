"""The offender: writes much, as fast as it can."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

from wblab.core.errors import InputError
from wblab.core.loads.base import MAX_CYCLES, Cycle
from wblab.core.loads.files import OnFile, create
from wblab.core.loads.repeated import Call, Repeated, Sleeping, writing
from wblab.core.parameters import check_block, check_wait
from wblab.core.units import NS_PER_S, Bytes, Nanoseconds, format_bytes, format_time


@dataclass(frozen=True, kw_only=True)
class Offender(OnFile):
    """Offender: waits once, in its first cycle, then writes `size` in blocks and ends.

    idle: the sleep after each block, which limits the rate to `block` / `idle`; 0: it writes as fast as it can.
    dontcache: with RWF_DONTCACHE (Linux 6.14): the kernel begins to write a block at once, and drops it then.
    """

    kind = "load"
    role = "offender"
    sleeps_first = True
    wait: Nanoseconds
    size: Bytes
    block: Bytes
    idle: Nanoseconds = Nanoseconds(0)
    dontcache: bool = False

    @property
    def description(self) -> str:
        size, block = format_bytes(self.size), format_bytes(self.block)
        pace = f", one every {format_time(self.idle)}" if self.idle else ""
        pace += ", without the cache" if self.dontcache else ""
        return f"from {format_time(self.wait)} on, writes {size} in blocks of {block}{pace}"

    @property
    def capacity(self) -> int:
        return -(-self.size // self.block)

    @property
    def cycle_bytes(self) -> Bytes:
        return self.block

    @property
    def files(self) -> dict[str, Bytes]:
        return {self.file: Bytes(self.capacity * self.block)}

    def check(self, path: str = "") -> None:
        super().check(path)
        check_block(f"{path}block", self.block)
        check_wait(f"{path}wait", self.wait)
        check_wait(f"{path}idle", self.idle)
        if self.size <= 0:
            raise InputError(f"{path}size: an offender must write something: give for example 100MiB")
        if self.capacity > MAX_CYCLES:
            raise InputError(f"{path}block: {self.capacity} writes are more than {MAX_CYCLES}: raise block")

    def idle_ns(self, number: int) -> int:
        return self.idle + (self.wait if number == 0 else 0)

    def prepare(self, mount: Path, draws: Random) -> Cycle:
        calls: list[Call] = [writing(create(mount / self.file), self.block, dontcache=self.dontcache)]
        if self.idle:
            calls.append(Sleeping(self.idle))
        return Repeated(*calls, before=waiting(self.wait))


def waiting(wait_ns: int) -> Callable[[], None]:
    """Return a function that sleeps for `wait_ns`, or does nothing if it is 0."""
    return (lambda: time.sleep(wait_ns / NS_PER_S)) if wait_ns else lambda: None
