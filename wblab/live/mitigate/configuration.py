"""The daemon's settings, with units; each has a default."""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

from wblab.core.errors import InputError, nearest
from wblab.core.files import read_bytes
from wblab.core.tables import from_table
from wblab.core.units import NS_PER_S, Bytes, BytesPerSecond, Nanoseconds

DEFAULT_FILE = Path("/etc/wblab/mitigate.toml")
_MOST_BYTES = 1 << 20
_MOST = 1 << 62
_NUMBERS = (
    *("bandwidth", "period", "smoothing", "on_percent", "off_percent", "child_percent", "clip_percent"),
    *("hold", "memory_high", "dirty_time", "queue_time", "limit_time", "io_max_percent"),
)
POLICIES = (
    "idle",
    "best-effort-7",
    "io.weight",
    "io.max",
    "memory.high",
    "dirty-bytes",
    "dirty-bytes-always",
    "short-queue",
    "short-queue-always",
    "strict-limit",
    "strict-limit-always",
    "strict-limit-beside",
)

# A desktop or a server depends on these: slowing them would only spread a pause.
_ALLOW = (
    "systemd",
    "systemd-journal",
    "systemd-udevd",
    "systemd-logind",
    "dbus.service",
    "dbus-broker.service",
    "sshd",
    "login",
    "Xorg",
    "Xwayland",
    "gnome-shell",
    "kwin_x11",
    "kwin_wayland",
    "sway",
)


@dataclass(frozen=True, kw_only=True)
class Config:
    """The daemon's configuration.

    policy: what to do about an offender: one of POLICIES, or several joined by `+`:
    - idle, best-effort-7: its I/O class and level.
    - io.weight, memory.high: a control group (version 2) for all offenders, with `io_weight` (1 to 1000; others have
    100) or `memory_high` (0: five times what the disk writes in `dirty_time`, at least 8 MiB; by default a fifth of a
    group's memory may be dirty).
    - dirty-bytes: lower vm.dirty_bytes, for all, to what the disk writes in `dirty_time`; the background threshold to
    half of that.
    - short-queue: lower what the disk's queue holds to what the disk serves in `queue_time`, at least 512 KiB: first
    with fewer requests, then with smaller ones.
    - strict-limit: limit dirty memory for this disk to what it writes in `limit_time`, at least 1 MiB.
    - io.max: a control group for all offenders; together they may write `io_max_percent` of the bandwidth.

    Each lasts as long as there is an offender. With `-always`, dirty-bytes, short-queue and strict-limit begin as soon
    as the bandwidth is known; the last two do so for each disk. With `-beside`, strict-limit also requires writes to
    another disk.

    cached: further policies for a disk with its own write cache; empty: none.

    allow: programs (name or path) that are never touched if root runs them, and services (dbus.service). Kernel
    threads, pid 1, the daemon and its ancestors are never touched. A listed program run by a user is charged for its
    own writes, but not for those of the programs that it starts. Only root may be able to change its file.

    only: if given, touch only programs or processes with these names.
    disk: a name in /sys/block; empty: the disk that was busiest lately. bandwidth: of that disk; 0: measure it.
    period: time between samples. smoothing: time constant of the rates' exponential smoothing.
    on_percent, off_percent: shares of the bandwidth; above the first a process offends, below the second it is calm.
    child_percent: share of a child's writes that is charged to its parent.
    clip_percent: limit to what one period counts for a process, so that a short burst is soon forgotten.
    hold: shortest time for which an offender is held; doubles each time it offends again.
    state: directory of the lock and the journal, on a tmpfs.
    learned: file that keeps the disks' bandwidths between starts; empty: keep none.
    """

    policy: str = "short-queue-always+strict-limit-beside"  # shortest pauses in experiments/matrices/daemon*.toml
    cached: str = "io.max"
    allow: tuple[str, ...] = _ALLOW
    only: tuple[str, ...] = ()
    disk: str = ""
    bandwidth: BytesPerSecond = BytesPerSecond(0)
    period: Nanoseconds = Nanoseconds(2 * NS_PER_S)
    smoothing: Nanoseconds = Nanoseconds(8 * NS_PER_S)
    on_percent: int = 70
    off_percent: int = 20
    child_percent: int = 90
    clip_percent: int = 400
    hold: Nanoseconds = Nanoseconds(10 * NS_PER_S)
    io_weight: int = 1
    io_max_percent: int = 80
    memory_high: Bytes = Bytes(0)
    dirty_time: Nanoseconds = Nanoseconds(NS_PER_S)
    queue_time: Nanoseconds = Nanoseconds(NS_PER_S // 8)
    limit_time: Nanoseconds = Nanoseconds(NS_PER_S)
    state: str = "/run/wblab"
    learned: str = "/var/lib/wblab/disks.json"

    @property
    def policies(self) -> list[str]:
        """Names in `policy`."""
        return self.policy.split("+")

    @property
    def cached_policies(self) -> list[str]:
        """Names in `cached`."""
        return self.cached.split("+") if self.cached else []


def read_config(path: Path | None, default: Path = DEFAULT_FILE) -> Config:
    """Read the configuration from a TOML file; without one, from the default one if it exists. Raises InputError."""
    if path is None and not default.exists():
        return Config()
    path = path or default
    try:
        table = tomllib.loads(read_bytes(path, _MOST_BYTES, follow=True).decode())
    except OSError as error:
        raise InputError(f"cannot read the configuration {str(path)!r}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:  # also TOMLDecodeError, UnicodeDecodeError
        raise InputError(f"{str(path)!r} is not TOML: {error}") from None
    config = from_table(Config, table)
    check(config)
    return config


def check(config: Config) -> None:
    """Raise InputError for values that make no sense together."""
    for key, names in (("policy", config.policies), ("cached", config.cached_policies)):
        for name in names:
            if name not in POLICIES:
                raise InputError(f"{key}: {name!r} is not one of {', '.join(POLICIES)}{nearest(name, POLICIES)}")
    if {"dirty-bytes", "dirty-bytes-always"} <= set(config.policies):
        raise InputError("policy: choose dirty-bytes or dirty-bytes-always")
    if {"idle", "best-effort-7"} <= set(config.policies):
        raise InputError("policy: a process has one I/O class: choose idle or best-effort-7")
    if not 0 < config.off_percent < config.on_percent:
        raise InputError("off_percent must be above 0 and below on_percent")
    if not 0 <= config.child_percent <= 100:
        raise InputError("child_percent must be 0 to 100")
    if config.clip_percent < config.on_percent:
        raise InputError("clip_percent must be at least on_percent, or nothing ever offends")
    if not 1 <= config.io_weight <= 1000:
        raise InputError("io_weight must be 1 to 1000")
    if not 1 <= config.io_max_percent <= 1000:
        raise InputError("io_max_percent must be 1 to 1000")
    _check_sizes(config)
    _check_names(config)


def _check_sizes(config: Config) -> None:
    for name in ("period", "smoothing", "dirty_time", "queue_time", "limit_time"):
        if getattr(config, name) <= 0:
            raise InputError(f"{name} must be above 0")
    if max(getattr(config, name) for name in _NUMBERS) > _MOST:
        raise InputError(f"one of {', '.join(_NUMBERS)} is too large to compute with: lower it")


def _check_names(config: Config) -> None:
    for name in ("state", "learned"):
        path = getattr(config, name)
        if "\0" in path or not (path.startswith("/") or (not path and name == "learned")):
            raise InputError(f"{name}: {path!r} is not an absolute path: give one, such as {getattr(Config(), name)}")
    if config.disk and not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9!._-]*", config.disk):
        raise InputError(f"disk: {config.disk!r} is not a name in /sys/block, such as sda")
