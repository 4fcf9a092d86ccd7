"""Which programs are exempt: programs of the system, identified by what no user can fake.

A process chooses its own name (prctl, PR_SET_NAME), so a name proves nothing. The kernel says which executable it runs;
that counts if the file is at the listed path and only root can change it. But whoever starts a program controls it
(LD_PRELOAD), so it is exempt only while all its user ids are root's. A service that runs as another user is identified
by its control group: only systemd moves processes there.
"""

import os
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from wblab.machine.trust import distrust

_COMM = 15  # the kernel keeps this many characters of a name; configurations may list such a short name


class Allowed:
    """The configuration's list: programs by name (sshd) or path (/usr/sbin/sshd), systemd services by unit."""

    def __init__(self, entries: Iterable[str]) -> None:
        self._units = {entry for entry in entries if entry.endswith(".service")}
        self._programs = frozenset(entries) - self._units

    def exempts(self, pid: int) -> bool:
        """Whether a process must not be touched."""
        return (self._runs(pid) and _is_root(pid)) or (bool(self._units) and unit_of(pid) in self._units)

    def starts_others(self, pid: int) -> bool:
        """Whether a process runs a listed program, as any user: it is not charged for what it starts."""
        return self._runs(pid) or (bool(self._units) and unit_of(pid) in self._units)

    def _runs(self, pid: int) -> bool:
        path = executable(pid)
        name = path.name
        if not self._programs.intersection((str(path), name, name[:_COMM])):
            return False
        try:
            # in our mount namespace, not a container's
            same = os.path.samestat(os.stat(f"/proc/{pid}/exe"), os.stat(path))
            return same and not distrust(path)
        except OSError:
            return False


def executable(pid: int) -> Path:
    """Return the path of a process's executable; an empty path if it is gone or not visible to us."""
    try:
        return Path(os.readlink(f"/proc/{pid}/exe"))
    except OSError:
        return Path()


def _is_root(pid: int) -> bool:
    """Whether all of a process's user ids are root's; see proc_pid_status(5)."""
    try:
        lines = Path(f"/proc/{pid}/status").read_bytes().splitlines()
    except OSError:
        return False
    return any(line.split()[1:] == [b"0"] * 4 for line in lines if line.startswith(b"Uid:"))


def unit_of(pid: int, proc: Path = Path("/proc")) -> str:
    """Return the unit of the system's systemd that a process belongs to; not of a user's or a container's systemd.

    proc: where the processes' files are (proc(5)).
    """
    try:
        lines = (proc / str(pid) / "cgroup").read_text(errors="replace").splitlines()
    except OSError:
        return ""
    for line in lines:
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if (number == "0" and not controllers) or controllers == "name=systemd":
            parts = PurePosixPath(path).parts[1:]
            if parts[:1] == ("system.slice",):
                return next((part for part in parts if not part.endswith(".slice")), "")
    return ""
