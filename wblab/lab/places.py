"""Where the lab's own files are, and where results go: the one place that knows a checkout from an installed wheel.

In a checkout, also one that is installed with `pip install --editable`, the files are the checkout's. A wheel brings
them in the package, under the same names, in wblab/share: pyproject.toml says which. What can be made again is kept
below `wblab.lab.cache.home()`.
"""

import os
from importlib.util import find_spec
from pathlib import Path

from wblab.core.errors import InputError

# What Python imports the lab from: the checkout, or the site-packages of an installation.
ROOT = Path(__file__).resolve().parents[2]
_PACKAGED = ROOT / "wblab" / "share"
INSTALLED = _PACKAGED.is_dir()

# Rooms that have designs of studies: a folder each, with its modules.
DESIGNS = tuple(ROOT / "wblab" / room for room in ("study/designs", "claims", "live"))

# The lab's files that are no modules. Programs of a guest see this directory too.
SHARE = _PACKAGED if INSTALLED else ROOT
PROGRAM = SHARE / "experiment.py"  # what guests run
PRESETS = SHARE / "experiments"
MATRICES = PRESETS / "matrices"
EXPLORATIONS = PRESETS / "explorations"
DISKS = PRESETS / "disks"
TRIALS = PRESETS / "trials"
REMEDIES = PRESETS / "remedies"
FINDINGS = PRESETS / "findings"
MEASURED = PRESETS / "measured"  # what was measured, as data that verbs and pages read offline
OUTSIDE = MEASURED / "outside"  # what was confirmed outside of User Mode Linux, and by which runs
LESSONS = SHARE / "lessons"
DOCS = SHARE / "docs"
CITATION = SHARE / "CITATION.cff"
LINUX_UML = SHARE / "linux-uml"

_CHOSEN = os.environ.get("WBLAB_EXP")
# Where run directories go unless --exp says so: an installation is no place for them, so that of who calls is.
RESULTS = Path(_CHOSEN) if _CHOSEN else Path("exp") if INSTALLED else ROOT / "exp"


def packaged_kernels() -> Path | None:
    """Return the folder of the kernels that the package wblab-kernel has brought, or None."""
    found = find_spec("wblab_kernel")
    return Path(found.origin).parent if found and found.origin else None


def check_checkout(path: Path, option: str, *, is_installed: bool = INSTALLED) -> None:
    """Raise InputError where `option` would write a file of the lab that came with an installation."""
    if is_installed and path.is_relative_to(ROOT):
        raise InputError(f"{option} writes {path.relative_to(SHARE)} of the lab: do it in a checkout of your own")
