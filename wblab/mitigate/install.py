"""What root runs as the daemon: code, interpreter and configuration that nobody else can change."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import wblab
from wblab.core.errors import InputError
from wblab.machine.trust import distrust_any


def check_install(config: Path) -> None:
    """Raise InputError where root would run what others than root could change, now or while it runs."""
    if os.geteuid() != 0:
        return
    if reason := distrust_any(path for path in _code() if path.exists()):
        hint = "install it as root, as misc/systemd/wblab-mitigate.service says"
        raise InputError(f"as root the daemon runs nothing that others can change: {reason}: {hint}")
    if config.exists() and (reason := distrust_any([config])):
        raise InputError(
            f"as root the daemon reads no configuration that others can change: {reason}: chown it to root"
        )


def _code() -> Iterator[Path]:
    """Yield the interpreter, where it looks for modules, what it has loaded, and all of the lab."""
    yield from map(Path, (sys.executable, sys.prefix, sys.base_prefix))
    yield from (Path(entry) for entry in sys.path)
    yield from (Path(file) for module in list(sys.modules.values()) if (file := getattr(module, "__file__", None)))
    for directory, _, names in os.walk(Path(wblab.__file__).parent):
        yield Path(directory)
        yield from (Path(directory, name) for name in names)
