"""A copy of the lab's sources, for other users to run and for tests to edit."""

import shutil
from pathlib import Path

from wblab.lab.places import ROOT


def copy_lab(place: Path) -> Path:
    """Copy the lab to a directory, so that every user can read it, wherever the checkout is."""
    for name in ("wblab", "experiments", "linux-uml", "misc", "experiment.py", "live_experiment.py"):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy2
        copy(ROOT / name, place / name)
    for path in (place, *place.rglob("*")):
        path.chmod(0o755)
    return place
