"""The lab itself, for guests in which its programs run: its directory, its packages and the Python that has them."""

import os
import sys
from dataclasses import dataclass
from pathlib import Path

from wblab.core.errors import InputError
from wblab.lab.places import INSTALLED, ROOT

# What a guest mounts its own filesystems over: the host's files below are not to be seen there.
HIDDEN = ("/tmp", "/run", "/mnt", "/dev", "/proc", "/sys")


@dataclass(frozen=True)
class Lab:
    """python: the interpreter, by a path that guests see too. packages: its site-packages."""

    python: Path
    packages: Path


def lab() -> Lab:
    """Return what the lab is installed with: the environment that runs this, else a checkout's. Raises InputError."""
    prefix = Path(sys.prefix) if INSTALLED or sys.prefix != sys.base_prefix else ROOT / ".venv"
    packages = ROOT if INSTALLED else next(iter(sorted(prefix.glob("lib/python3*/site-packages"))), None)
    python = Path(os.path.realpath(sys.executable if INSTALLED else prefix / "bin" / "python3"))
    if packages is None or not os.access(python, os.X_OK):
        raise InputError(f"programs in the guest need the lab's packages, which are not in {prefix}: run 'make setup'")
    if any(python.is_relative_to(hidden) for hidden in HIDDEN):
        raise InputError(f"a guest cannot see {python}: use a Python that is not below {', '.join(HIDDEN)}")
    return Lab(python, packages)
