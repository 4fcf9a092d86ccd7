"""Check that nobody but root can change the daemon's code, interpreter and configuration."""

import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import wblab
from wblab.core.errors import InputError
from wblab.machine.trust import distrust_any


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
