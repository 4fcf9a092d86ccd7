"""The machine's processes: parents, children, and those that must not be touched."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

import psutil

from wblab.machine.processes import identify, threads
from wblab.machine.trust import distrust

# Which programs are exempt: programs of the system, identified by what no user can fake.
#
# A process chooses its own name (prctl, PR_SET_NAME), so a name proves nothing. The kernel says which executable it
# runs;
# that counts if the file is at the listed path and only root can change it. But whoever starts a program controls it
# (LD_PRELOAD), so it is exempt only while all its user ids are root's. A service that runs as another user is
# identified
# by its control group: only systemd moves processes there.

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


_TURNS = 10  # check a kernel thread again after this many refreshes: a process may have reused its number
_PF_KTHREAD = 0x00200000  # include/linux/sched.h
_INIT = 1


def waits_for_disk(pid: int) -> bool:
    """Whether a thread of a process is in uninterruptible sleep, for example throttled in write()."""
    return any(identity.state == "D" for tid in threads(pid) if (identity := identify(tid)))


def ancestors() -> frozenset[int]:
    """Return this process and all its ancestors."""
    own = psutil.Process()
    return frozenset((own.pid, *(process.pid for process in own.parents())))


class Processes:
    """All processes but kernel threads; `refresh` updates the table."""

    def __init__(self, allow: Iterable[str], only: Iterable[str] = ()) -> None:
        self.parents: dict[int, int] = {}
        self.names: dict[int, str] = {}
        self._untouchable = {pid: identify(pid) for pid in ancestors() | {_INIT}}
        self._allowed, self._only = Allowed(allow), frozenset(only)
        self._kernel: set[int] = set()
        self._turn = 0
        self._protected: dict[int, bool] = {}  # answers since the last refresh

    def refresh(self) -> list[int]:
        """Update the table and return the new processes."""
        present = set(psutil.pids())
        self._protected.clear()
        self._turn = (self._turn + 1) % _TURNS
        self._kernel = {pid for pid in self._kernel & present if pid % _TURNS != self._turn or _is_kernel(pid)}
        for pid in self.parents.keys() - present:
            self.forget(pid)
        return [pid for pid in present - self.parents.keys() - self._kernel if self._meet(pid)]

    def forget(self, pid: int) -> None:
        """Drop an ended process: its number may be reused."""
        self.parents.pop(pid, None)
        self.names.pop(pid, None)

    def tasks(self, pid: int) -> list[int]:
        """Return the threads of a process. Counting them by a directory's links is cheaper than listing them."""
        try:
            links = os.stat(f"/proc/{pid}/task").st_nlink
        except OSError:
            return []
        return [pid] if links == 3 else threads(pid)

    def protected(self, pid: int) -> bool:
        """Whether a process must not be touched."""
        if pid not in self._protected:
            self._protected[pid] = self._is_protected(pid)
        return self._protected[pid]

    def _is_protected(self, pid: int) -> bool:
        if pid in self._kernel or self._allowed.exempts(pid):
            return True
        if (own := self._untouchable.get(pid)) and (now := identify(pid)) and now.start_ticks == own.start_ticks:
            return True
        return bool(self._only) and self._only.isdisjoint((self.names.get(pid, ""), executable(pid).name))

    def answers_for(self, pid: int) -> int | None:
        """Return the process that is also charged for what `pid` writes: its parent, or None where blame stops.

        Blame stops at session leaders (a login, a service, a container, a terminal pane), at protected processes, and
        at programs of `allow`, whoever runs them.
        """
        parent = self.parents.get(pid, 0)
        if parent not in self.parents or self.protected(parent) or self._allowed.starts_others(parent):
            return None
        return parent if _same_session(pid, parent) else None

    def family(self, pid: int) -> Iterator[int]:
        """Yield a process and its descendants in the same session, without protected ones."""
        children: dict[int, list[int]] = {}
        for child, parent in self.parents.items():
            children.setdefault(parent, []).append(child)
        left = [pid]
        while left:
            member = left.pop()
            yield member
            for child in children.get(member, ()):
                if not self.protected(child) and _same_session(child, pid):
                    left.append(child)

    def _meet(self, pid: int) -> bool:
        identity = identify(pid)
        if identity is None:
            return False
        if identity.flags & _PF_KTHREAD:
            self._kernel.add(pid)
            return False
        self.parents[pid] = identity.parent
        self.names[pid] = identity.name
        return True


def _is_kernel(pid: int) -> bool:
    identity = identify(pid)
    return identity is not None and bool(identity.flags & _PF_KTHREAD)


def _same_session(one: int, other: int) -> bool:
    try:
        return os.getsid(one) == os.getsid(other)
    except OSError:  # one of them is gone
        return False
