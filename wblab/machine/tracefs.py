"""A trace of our own in the kernel: an instance with its own buffer and events, beside the tracing of others.

Documentation/trace/ftrace.rst, "Instances". Removing an instance turns off the events that it had turned on, and no
others. Function tracing (`ftrace_enabled`) is not touched, which some hosts forbid.
"""

import errno
import os
import re
import secrets
import tempfile
from contextlib import suppress
from pathlib import Path

from wblab.core.syscalls import MS_NOSUID, mount, umount
from wblab.machine.changes import Directory, Mount, WayBack
from wblab.machine.mounted import mounted
from wblab.machine.trust import distrust

_PRIVATE = "wblab-tracefs-"
_MOUNT = re.compile(rf"{_PRIVATE}(\d+)-[0-9a-f]+")
_INSTANCE = re.compile(r"wblab-[a-z]+-(\d+)")
_LOST = re.compile(r"^(?:overrun|commit overrun|dropped events): (\d+)$", re.MULTILINE)


def tracefs(way_back: WayBack) -> Path:
    """Return where tracefs is mounted. Raises OSError.

    It is looked up, not tried: /sys/kernel/debug/tracing is mounted by the kernel as soon as anybody looks into it, and
    stays. Where it is not, it is mounted until that is undone, at a place of its own: several of us may be at
    work, and one that unmounts takes nothing from another.
    """
    if public := [path for path in mounted("tracefs") if not path.name.startswith(_PRIVATE)]:
        return public[0]
    place = Path(tempfile.gettempdir(), f"{_PRIVATE}{os.getpid()}-{secrets.token_hex(6)}")
    way_back.note(Directory(path=str(place)))
    place.mkdir(mode=0o700)
    if reason := distrust(place):  # it might be exchanged for a place that we are not to cover
        raise OSError(errno.EPERM, reason)
    way_back.note(Mount(path=str(place)))
    mount("tracefs", place, "tracefs", MS_NOSUID)
    return place


def clear(root: Path) -> None:
    """Remove what others of us left who were killed together with their guards: instances, and mounts of their own.

    What is in use stays: the kernel refuses it. So does what belongs to a process with a number from elsewhere (a
    container), as long as its trace is read.
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
    """Return whether the process in one of our names is no more."""
    own = pattern.fullmatch(name)
    return own is not None and not Path("/proc", own[1]).exists()


class Instance:
    """A trace instance. Its buffer is of `buffer_bytes` for each processor; it traces nothing until it is started."""

    def __init__(self, kind: str, way_back: WayBack, *, clock: str = "mono", buffer_bytes: int = 1408 * 1024) -> None:
        """Make it, `wblab-KIND-PID`. Raises OSError: where the host does not let us, and where there is one."""
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
        """Turn `system:event`, or a whole `system`, on or off; return whether the kernel has it. Raises OSError."""
        file = Path("events", *event.split(":"), "enable")
        if not (self.path / file).exists():
            return False
        self.put(str(file), int(on))
        return True

    def trigger(self, event: str, text: str) -> bool:
        """Do what a trigger says (Documentation/trace/events.rst) at `system:event`; return whether the kernel can.

        It is removed with the instance. Raises OSError.
        """
        file = Path("events", *event.split(":"), "trigger")
        try:
            self.put(str(file), text)
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.EINVAL):  # no such event; no such trigger, or field
                return False
            raise
        return True

    def start(self) -> None:
        """Trace from now on. Raises OSError."""
        self.put("tracing_on", 1)

    def stop(self) -> None:
        """Trace no more; what was traced stays in the buffer. Raises OSError."""
        self.put("tracing_on", 0)

    def lost(self) -> int:
        """Return how many events were lost because the buffer was full."""
        stats = (path.read_text() for path in self.path.glob("per_cpu/cpu*/stats"))
        return sum(int(count) for text in stats for count in _LOST.findall(text))
