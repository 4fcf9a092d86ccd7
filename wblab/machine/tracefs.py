"""Trace in an instance of our own, with its own buffer and events, beside the tracing of others.

Documentation/trace/ftrace.rst, "Instances". Removing an instance turns off only the events that it turned on. Function
tracing (`ftrace_enabled`), which some hosts forbid, is not touched.
"""

import errno
import os
import re
import secrets
import tempfile
from contextlib import suppress
from pathlib import Path

from wblab.core.syscalls import MS_NOSUID, mount, umount
from wblab.machine.block import mounted
from wblab.machine.changes import Directory, Mount, WayBack
from wblab.machine.trust import distrust

_PRIVATE = "wblab-tracefs-"
_MOUNT = re.compile(rf"{_PRIVATE}(\d+)-[0-9a-f]+")
_INSTANCE = re.compile(r"wblab-[a-z]+-(\d+)")
_LOST = re.compile(r"^(?:overrun|commit overrun|dropped events): (\d+)$", re.MULTILINE)


def tracefs(way_back: WayBack) -> Path:
    """Return where tracefs is mounted. Raises OSError.

    We look it up rather than try a path: the kernel mounts /sys/kernel/debug/tracing when anybody looks into it, and it
    stays mounted. If tracefs is not mounted, we mount it at a place of our own until the undo: several runs may be
    active, and none must unmount another's.
    """
    if public := [path for path in mounted("tracefs") if not path.name.startswith(_PRIVATE)]:
        return public[0]
    place = Path(tempfile.gettempdir(), f"{_PRIVATE}{os.getpid()}-{secrets.token_hex(6)}")
    way_back.note(Directory(path=str(place)))
    place.mkdir(mode=0o700)
    if reason := distrust(place):  # somebody could swap it for a place that we must not mount over
        raise OSError(errno.EPERM, reason)
    way_back.note(Mount(path=str(place)))
    mount("tracefs", place, "tracefs", MS_NOSUID)
    return place


def clear(root: Path) -> None:
    """Remove instances and mounts of runs that were killed together with their guards.

    The kernel refuses to remove what is in use. An instance of a process in another pid namespace (a container) also
    stays while its trace is read.
    """
    for place in mounted("tracefs"):
        if _is_gone(_MOUNT, place.name):
            with suppress(OSError):
                umount(place)
                place.rmdir()
    for instance in (root / "instances").iterdir():
        if _is_gone(_INSTANCE, instance.name):
            with suppress(OSError):
                instance.rmdir()


def _is_gone(pattern: re.Pattern[str], name: str) -> bool:
    """Whether the process in one of our names has ended."""
    own = pattern.fullmatch(name)
    return own is not None and not Path("/proc", own[1]).exists()


class Instance:
    """A trace instance. Its buffer has `buffer_bytes` for each processor; it traces nothing until it is started."""

    def __init__(self, kind: str, way_back: WayBack, *, clock: str = "mono", buffer_bytes: int = 1408 * 1024) -> None:
        """Make it, `wblab-KIND-PID`. Raises OSError if the host does not permit it, or it exists."""
        root = tracefs(way_back)
        clear(root)
        self.path = root / "instances" / f"wblab-{kind}-{os.getpid()}"
        if self.path.exists():
            raise OSError(errno.EEXIST, os.strerror(errno.EEXIST), str(self.path))
        way_back.note(Directory(path=str(self.path)))
        self.path.mkdir()
        self.put("tracing_on", 0)
        self.put("trace_clock", clock)
        self.put("buffer_size_kb", max(1, buffer_bytes // 1024))

    def put(self, file: str, value: int | str) -> None:
        """Write to one of the instance's files. Raises OSError."""
        (self.path / file).write_text(str(value))

    def enable(self, event: str, *, on: bool = True) -> bool:
        """Turn `system:event`, or a whole `system`, on or off. Return whether the kernel has it. Raises OSError."""
        file = Path("events", *event.split(":"), "enable")
        if not (self.path / file).exists():
            return False
        self.put(str(file), int(on))
        return True

    def trigger(self, event: str, text: str) -> bool:
        """Set a trigger (Documentation/trace/events.rst) on `system:event`. Return whether the kernel supports it.

        It is removed with the instance. Raises OSError.
        """
        return self._put_for(event, "trigger", text)

    def filter(self, event: str, text: str) -> bool:
        """Record `system:event` only where a filter holds. Return whether the kernel supports it. Raises OSError."""
        return self._put_for(event, "filter", text)

    def _put_for(self, event: str, file: str, text: str) -> bool:
        try:
            self.put(str(Path("events", *event.split(":"), file)), text)
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.EINVAL):  # no such event; no such trigger, or field
                return False
            raise
        return True

    def start(self) -> None:
        """Start to trace. Raises OSError."""
        self.put("tracing_on", 1)

    def stop(self) -> None:
        """Stop tracing; the buffer keeps its content. Raises OSError."""
        self.put("tracing_on", 0)

    def lost(self) -> int:
        """Return how many events were lost because the buffer was full."""
        stats = (path.read_text() for path in self.path.glob("per_cpu/cpu*/stats"))
        return sum(int(count) for text in stats for count in _LOST.findall(text))
