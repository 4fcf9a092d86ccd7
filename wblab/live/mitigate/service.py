"""Start the daemon, or restore what it changed: one at a time, and never without a way back."""

import os
import signal
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import wblab
from wblab.core.errors import InputError, WblabError
from wblab.live.changes.journal import Journal, changing
from wblab.live.changes.permitted import MITIGATE
from wblab.live.mitigate.accounting import Accounting, ProcAccounting, TaskstatsAccounting
from wblab.live.mitigate.configuration import Config
from wblab.live.mitigate.daemon import SIGNALS, Daemon
from wblab.live.mitigate.measures import put_back_strays
from wblab.live.mitigate.report import Event, Say
from wblab.live.mitigate.taskstats import Taskstats
from wblab.machine.trust import distrust_any

# Check that nobody but root can change the daemon's code, interpreter and configuration.


def check_install(config: Path, code: Iterable[Path] | None = None) -> None:
    """Raise InputError if another user could change what root would run, now or later.

    code: what the daemon runs; by default, all that this process does.
    """
    if os.geteuid() != 0:
        return
    if reason := distrust_any(path for path in (_code() if code is None else code) if path.exists()):
        hint = "install it as root; misc/systemd/wblab-mitigate.service says how"
        raise InputError(f"root must not run a daemon that others can change: {reason}: {hint}")
    if config.exists() and (reason := distrust_any([config])):
        raise InputError(f"root must not use a configuration that others can change: {reason}: chown it to root")


def _code() -> Iterator[Path]:
    """Yield the interpreter, its module search path, the loaded modules, and the whole lab."""
    yield from map(Path, (sys.executable, sys.prefix, sys.base_prefix))
    yield from (Path(entry) for entry in sys.path)
    yield from (Path(file) for module in list(sys.modules.values()) if (file := getattr(module, "__file__", None)))
    for directory, _, names in os.walk(Path(wblab.__file__).parent):
        yield Path(directory)
        yield from (Path(directory, name) for name in names)


# A child inherits at birth what its parent has, and is invisible for a moment.
_PAUSES_S = (0.0, 0.02, 0.1)


def serve(config: Config, say: Say, *, dry_run: bool) -> None:
    """Run the daemon until SIGTERM, SIGINT or SIGHUP. Raises WblabError."""
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    if dry_run:
        Daemon(config, say, accounting(say), None).run()
        return
    with changing(MITIGATE, Path(config.state)) as journal:
        _report_ignored(journal, say)
        put_back(journal, say)
        daemon = Daemon(config, say, accounting(say), journal)
        try:
            daemon.run()
        finally:
            put_back(journal, say)
        daemon.close()


def restore(config: Config, say: Say) -> None:
    """Undo what a killed daemon left. Raises WblabError."""
    with changing(MITIGATE, Path(config.state)) as journal:
        _report_ignored(journal, say)
        put_back(journal, say)


def _report_ignored(journal: Journal, say: Say) -> None:
    if journal.ignored:
        say(Event(action="warn", text=f"ignored, and not restored: {journal.ignored}"))


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
        say(
            Event(
                action="warn",
                text=f"no taskstats ({error}): using /proc/PID/io, which misses processes that end between samples",
            )
        )
        return ProcAccounting()
    return found
