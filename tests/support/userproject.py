"""A project of a user's: a directory with an environment that has pytest and the lab, wherever the lab lies."""

import shutil
import subprocess
import sys
import sysconfig
from importlib.util import find_spec
from pathlib import Path

from wblab.lab.places import ROOT

PYTEST = ("pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments", "py")


def make_project(place: Path) -> Path:
    """Make an environment in a directory. Return its programs' directory, which has python and wblab."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", place / "venv"], check=True)
    packages = next(place.glob("venv/lib/python*/site-packages"))
    for name in PYTEST:
        found = find_spec(name)
        assert found
        assert found.origin
        origin = Path(found.origin)
        source = origin.parent if origin.name == "__init__.py" else origin
        (shutil.copytree if source.is_dir() else shutil.copy)(source, packages / source.name)
    for known in Path(sysconfig.get_path("purelib")).glob("pluggy-*.dist-info"):  # it asks for its own version
        shutil.copytree(known, packages / known.name)
    others = (ROOT, ROOT / "misc", sysconfig.get_path("purelib"))
    (packages / "lab.pth").write_text("".join(f"{path}\n" for path in others))
    programs = place / "venv" / "bin"
    (programs / "wblab").write_text(f'#!/bin/sh\nexec {programs}/python -m wblab "$@"\n')
    (programs / "wblab").chmod(0o755)
    return programs
