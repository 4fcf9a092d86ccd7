"""The lab itself, for guests in which its programs run: what it is there, its packages and the Python that has them."""

import os
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from wblab.core.errors import InputError
from wblab.core.layout import PACKAGES
from wblab.core.spec import Spec
from wblab.lab.places import INSTALLED, ROOT

# What a guest mounts its own filesystems over: the host's files below are not to be seen there.
HIDDEN = ("/tmp", "/run", "/mnt", "/dev", "/proc", "/sys")
# The lab's command as a word of a command, no part of a path or of a module's name; or where the packages are.
_ASKS = re.compile(rf"(?<![\w/.])wblab(?![\w.])|{re.escape(str(PACKAGES))}\b")


@dataclass(frozen=True)
class Lab:
    """python: the interpreter, by a path that guests see too. packages: its site-packages."""

    python: Path
    packages: Path


def lab(prefix: Path | None = None, hidden: Sequence[str] = HIDDEN) -> Lab:
    """Return what the lab is installed with: the environment that runs this, else a checkout's. Raises InputError.

    prefix: another environment. hidden: directories whose files guests do not see.
    """
    if prefix is None:
        prefix = Path(sys.prefix) if INSTALLED or sys.prefix != sys.base_prefix else ROOT / ".venv"
    packages = ROOT if INSTALLED else next(iter(sorted(prefix.glob("lib/python3*/site-packages"))), None)
    python = Path(os.path.realpath(sys.executable if INSTALLED else prefix / "bin" / "python3"))
    if packages is None or not os.access(python, os.X_OK):
        raise InputError(f"programs in the guest need the lab's packages, which are not in {prefix}: run 'make setup'")
    if any(python.is_relative_to(directory) for directory in hidden):
        raise InputError(f"a guest cannot see {python}: use a Python that is not below {', '.join(hidden)}")
    return Lab(python, packages)


def asks_for_packages(spec: Spec) -> bool:
    """Whether a command or an agent of a spec names `wblab`, or the packages' directory in the guest.

    Others do not get them: how many packages a host has would reach their runs.
    """
    return any(_ASKS.search(word) for argv in commands(spec).values() for word in argv)


def commands(spec: Spec) -> dict[str, tuple[str, ...]]:
    """Return the commands of a spec's loads and agents, by the keys of those."""
    of_loads = {f"load.{name}": tuple(getattr(load, "argv", ())) for name, load in spec.load.items() if load.needs_lab}
    return of_loads | {f"agent.{name}": tuple(agent.argv) for name, agent in spec.agent.items()}
