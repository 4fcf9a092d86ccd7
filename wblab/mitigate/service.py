"""Starting the daemon and putting things back: one at a time, and never without a way back."""

import errno
import fcntl
import os
import signal
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from wblab.core.errors import WblabError
from wblab.machine.trust import distrust
from wblab.mitigate.accounting import Accounting, ProcAccounting, TaskstatsAccounting
from wblab.mitigate.config import Config
from wblab.mitigate.journal import Journal
from wblab.mitigate.loop import SIGNALS, Daemon
from wblab.mitigate.measures import put_back_strays
from wblab.mitigate.report import Event, Say
from wblab.mitigate.taskstats import Taskstats

# A child that is just being born inherits what its parent has, and cannot be seen for a moment.
_PAUSES_S = (0.0, 0.02, 0.1)
_JOURNAL, _LOCK = "mitigate.json", "mitigate.lock"


def serve(config: Config, say: Say, *, dry_run: bool) -> None:
    """Be the daemon until SIGTERM, SIGINT or SIGHUP. Raises WblabError."""
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    if dry_run:
        Daemon(config, say, accounting(say), None).run()
        return
    _require_root()
    with _alone(Path(config.state)):
        journal = _journal(config, say)
        put_back(journal, say)
        daemon = Daemon(config, say, accounting(say), journal)
        try:
            daemon.run()
        finally:
            put_back(journal, say)
        daemon.close()


def restore(config: Config, say: Say) -> None:
    """Undo what a killed daemon left. Raises WblabError."""
    _require_root()
    with _alone(Path(config.state)):
        put_back(_journal(config, say), say)


def _journal(config: Config, say: Say) -> Journal:
    journal = Journal(Path(config.state, _JOURNAL))
    if journal.ignored:
        say(Event(action="warn", text=f"ignored, and not put back: {journal.ignored}"))
    return journal


def put_back(journal: Journal, say: Say) -> None:
    """Undo all changes in a journal, and what was inherited from them."""
    before = list(journal.changes)
    failures = journal.undo(before)
    for pause_s in _PAUSES_S if before else (0.0,):
        time.sleep(pause_s)
        failures += put_back_strays(journal, before)
    if before:
        say(Event(action="put back", text=f"{len(before)} changes"))
    for failure in failures:
        say(Event(action="warn", text=failure))


def accounting(say: Say) -> Accounting:
    """Return the best accounting that this machine has."""
    try:
        found = TaskstatsAccounting(Taskstats())
    except WblabError as error:
        say(Event(action="warn", text=f"no taskstats ({error}): /proc/PID/io instead, which loses what ends unseen"))
        return ProcAccounting()
    return found


def _require_root() -> None:
    if os.geteuid() != 0:
        raise WblabError("the daemon needs root to change processes: use sudo, or --dry-run to only watch")


@contextmanager
def _alone(directory: Path) -> Iterator[None]:
    """Be the only daemon, in a directory that is root's alone. Raises WblabError if there is one."""
    os.umask(0o077)
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        directory.mkdir(parents=True, exist_ok=True)
        if reason := distrust(directory):
            raise PermissionError(errno.EPERM, reason)
        descriptor = os.open(directory / _LOCK, flags, 0o600)
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise FileExistsError(errno.EEXIST, f"its {_LOCK} is no regular file")
    except OSError as error:
        raise WblabError(f"cannot use the directory {directory}: {error.strerror}: set state to another") from None
    with open(descriptor, "r+", errors="replace") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            pid = lock.read(20).strip()
            raise WblabError(f"a daemon is running already, with pid {pid}: stop it first: kill {pid}") from None
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        yield
