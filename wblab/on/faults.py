"""Faults of the disk of a user's program: a loss of power, a write or read that fails, a stall, no room.

The order has them, and both sides read this module: it imports the standard library and the core only. The guest's
kernel carries them out: linux-uml/variants/programs, the attribute "fault" of a ubd device.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from errno import ENOSPC
from pathlib import Path

from wblab.core.errors import InputError, WblabError
from wblab.core.loads.base import NEVER
from wblab.core.syscalls import MOUNT_FLAGS, mount, umount
from wblab.core.units import NS_PER_S, parse_time

LOG_BYTES = 512 << 20  # of what writes replaced, behind the device's end in its file
# Strings that only kernels hold which have the attribute; which also fail reads and tear writes.
KNOWN_BY, TEARS_BY = "%15s %llu", "%s %llu %llu %llu %llu\n"
AT_END = "end"
_NONE = -1
_POLL_NS = 5_000_000
_MOST_POINTS = 200
_FILLER = ".full"
_DROPPED = "/proc/sys/vm/drop_caches"


@dataclass(frozen=True)
class Faults:
    """What happens to the disk. Times are from the program's start, in ns; -1: it does not happen.

    crash_at_ns: power is lost; NEVER: when the program ends, as also if it ends before. crash_after: power is lost
    after that many writes of the disk; 0: not. stall_at_ns, stall_ns: when the disk stands still, and for how long.
    error_at: the number of the write of the disk that fails with EIO, from 1; 0: none. read_error_at: of the read; what
    it began with is unreadable until it is written anew. free_bytes: so much is free on
    the disk when the program starts. then: a command of a shell, which runs on the disk as the loss of power left it.
    log_end: where what writes replaced may end in the disk's file. torn: a loss of power keeps or loses each sector for
    itself.
    """

    crash_at_ns: int = _NONE
    crash_after: int = 0
    stall_at_ns: int = _NONE
    stall_ns: int = 0
    error_at: int = 0
    read_error_at: int = 0
    free_bytes: int = _NONE
    then: str = ""
    log_end: int = 0
    torn: bool = False

    @property
    def crashes(self) -> bool:
        """Whether power is lost."""
        return self.crash_at_ns != _NONE or self.crash_after > 0

    @property
    def asks_the_kernel(self) -> bool:
        """Whether the guest's kernel must carry some out."""
        return self.crashes or self.stall_at_ns != _NONE or self.error_at > 0 or self.read_error_at > 0

    @property
    def asks_a_newer_kernel(self) -> bool:
        """Whether that must be one that fails reads and tears writes."""
        return self.torn or self.read_error_at > 0


def crash_time(text: str) -> int:
    """Return when power is lost, in ns; "end" when the program ends. Raises InputError."""
    return NEVER if text == AT_END else parse_time(text)


def crash_points(text: str) -> list[int]:
    """Return after how many writes power is lost: N, or FIRST..LAST, or FIRST..LAST/STEP. Raises InputError."""
    span, slash, step = text.partition("/")
    first, dots, last = span.partition("..")
    words = [first, *([last] if dots else []), *([step] if slash else [])]
    if not all(word.isascii() and word.isdecimal() and 0 < int(word) < 1 << 40 for word in words) or (
        slash and not dots
    ):
        raise InputError(f"--crash-after {text}: give a number of writes, 1..40, or 10..400/10")
    points = range(int(first), int(last if dots else first) + 1, int(step) if slash else 1)
    if not 0 < len(points) <= _MOST_POINTS:
        said = f"--crash-after {text}: that is {len(points)} runs, give 1 to {_MOST_POINTS}"
        raise InputError(f"{said}: with a step, as in 10..400/10")
    return list(points)


def failing(text: str) -> tuple[int, int]:
    """Return the number of the write that fails and that of the read, of which one is 0, from N or read:N.

    Raises InputError.
    """
    kind, colon, number = text.rpartition(":")
    if not (number.isascii() and number.isdecimal() and 0 < int(number) < 1 << 40) or kind != "read" * bool(colon):
        raise InputError(f"--error-at {text}: give the number of a write, as in 40, or of a read, as in read:3")
    return (0, int(number)) if colon else (int(number), 0)


def stall(text: str) -> tuple[int, int]:
    """Return when a disk stands still and for how long, in ns, from AT:FOR. Raises InputError."""
    at, colon, long = text.partition(":")
    if not colon:
        raise InputError(f"--stall-at {text}: say when and for how long, as in 3s:2s")
    return parse_time(at), parse_time(long)


class FaultyDisk:
    """The guest's disk while its program runs. All methods raise OSError."""

    def __init__(self, faults: Faults, seed: int, place: Path, *, for_root: bool) -> None:
        """place: where the disk is mounted. seed: of what a loss of power leaves. for_root: who the program runs as."""
        self._faults, self._seed, self._place, self._for_root = faults, seed, place, for_root
        self._due = sorted(
            [(faults.crash_at_ns, self.lose_power)] * (_NONE < faults.crash_at_ns < NEVER)
            + [(faults.stall_at_ns, self._stall)] * (faults.stall_at_ns > _NONE),
            key=lambda item: item[0],
        )
        self._mounted = _mounted(place)
        self._attribute = Path("/sys/block", os.path.basename(self._mounted[0]), "fault")
        self._start_ns, self._lost = 0, [""] * 4  # as the attribute reads
        self.lost_ns: int | None = None  # when power was lost, after the program's start

    @property
    def keeps_output(self) -> bool:
        """Whether what the program prints is for a command that runs after it."""
        return bool(self._faults.then)

    def begin(self, now: Callable[[], int]) -> None:
        """Prepare the disk right before the program starts. now: returns the time in ns."""
        self._now = now
        if self._faults.free_bytes != _NONE:
            self._fill()
        if self._faults.crashes:
            # Flushes say what is on the medium. A driver without a volatile write cache would get none.
            self._attribute.with_name("queue").joinpath("write_cache").write_text("write back")
            os.sync()
            self._order("record", self._faults.log_end)
        if self._faults.asks_the_kernel:
            self._order("fail", self._faults.error_at)  # writes count from here
        if self._faults.read_error_at:
            os.sync()
            Path(_DROPPED).write_text("3")  # what is in memory is not read from the disk
            self._order("spoil", self._faults.read_error_at)  # reads count from here
        if self._faults.crash_after:
            self._order("cut", self._faults.crash_after)
        self._start_ns = now()

    def patience_s(self, most_s: float) -> float:
        """Return for how long nothing has to be done, at most most_s."""
        nexts_ns = [at_ns - (self._now() - self._start_ns) for at_ns, _ in self._due[:1]]
        if self._faults.crash_after and self.lost_ns is None:
            nexts_ns.append(_POLL_NS)
        return max(0.0, min([most_s, *(next_ns / NS_PER_S for next_ns in nexts_ns)]))

    def turn(self) -> bool:
        """Do what is due. Return whether power was lost since the last turn."""
        had = self.lost_ns is not None
        while self._due and self._due[0][0] <= self._now() - self._start_ns:
            self._due.pop(0)[1]()
        if self._faults.crash_after and self.lost_ns is None and self._state()[0] == "cut":
            self._is_lost()
        return not had and self.lost_ns is not None

    def lose_power(self) -> None:
        """Lose power now: no request of the disk ends any more, until `release`."""
        if self.lost_ns is None:
            self._order("cut", 0)
            self._is_lost()

    def _is_lost(self) -> None:
        self.lost_ns, self._lost = self._now() - self._start_ns, self._state()

    def release(self) -> None:
        """Let requests end, for nobody."""
        self._order("release", 0)

    def come_back(self) -> str:
        """Mount the disk anew as the loss of power left it. Return what was lost, as a sentence. Raises WblabError."""
        state, writes, count, size, *_ = self._lost
        if "overflowed" in (state, self._state()[0]):
            raise WblabError(f"the disk had {LOG_BYTES >> 20} MiB of writes without a flush: lose power earlier")
        umount(self._place)
        self._order("tear" if self._faults.torn else "restore", self._seed)
        device, filesystem, flags, options = self._mounted
        try:
            mount(device, self._place, filesystem, flags, options)
        except OSError as error:
            raise WblabError(f"the filesystem cannot be mounted after the loss of power: {error.strerror}") from None
        made = self._faults.crash_after or writes  # the one too many tells that the number is reached
        at = f"power was lost {(self.lost_ns or 0) / NS_PER_S:.3f} s after the start, after {made} writes of the disk"
        return f"{at}; no flush had confirmed {count} of them, {int(size) / (1 << 20):.1f} MiB"

    def missed(self) -> str:
        """Return as a sentence that the write or read which was to fail did not come; an empty text: it did."""
        if not (self._faults.error_at or self._faults.read_error_at):
            return ""
        _, writes, _, _, *reads = map(int, ("0", *self._state()[1:]))
        had, wanted, kind = (
            (writes, self._faults.error_at, "write")
            if self._faults.error_at
            else (reads[0], self._faults.read_error_at, "read")
        )
        return (
            f"no {kind} of the disk failed: it had {had} of them, and the error was to be at {wanted}"
            if had < wanted
            else ""
        )

    def _stall(self) -> None:
        self._order("stall", self._faults.stall_ns)

    def _fill(self) -> None:
        """Fill the disk up to the free bytes that the program gets."""
        os.sync()
        status = os.statvfs(self._place)
        free = status.f_bavail
        if self._for_root:  # who may use what is reserved for root, but not what ext4 reserves for itself
            own = Path("/sys/fs/ext4", os.path.basename(self._mounted[0]), "reserved_clusters")
            free = status.f_bfree - (int(own.read_text()) if own.exists() else 0)
        size = free * status.f_frsize - self._faults.free_bytes
        with (self._place / _FILLER).open("wb") as file:
            while size > 0:
                try:
                    os.posix_fallocate(file.fileno(), 0, size)
                except OSError as error:
                    if error.errno != ENOSPC:
                        raise
                    size -= max(size // 100, 1 << 20)  # btrfs says that more is free than it gives
                else:
                    break
        os.sync()

    def _order(self, word: str, value: int) -> None:
        self._attribute.write_text(f"{word} {value}")

    def _state(self) -> list[str]:
        return self._attribute.read_text().split()


def _mounted(place: Path) -> tuple[str, str, int, str]:
    """Return a filesystem's device, type, mount flags and options, as mount(2) takes them."""
    for line in Path("/proc/mounts").read_text().splitlines():
        device, where, filesystem, options, *_ = line.split()
        if where == str(place):
            words = [word for word in options.split(",") if word not in ("rw", "ro")]
            flags = sum(MOUNT_FLAGS.get(word, 0) for word in words)
            return device, filesystem, flags, ",".join(word for word in words if word not in MOUNT_FLAGS)
    raise WblabError(f"nothing is mounted at {place}")
