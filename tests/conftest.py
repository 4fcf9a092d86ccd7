"""For all tests: what was left out is said, and property tests have no time limits: timings never pass or fail."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from wblab.lab.specfile import ROOT
from wblab.machine.place import find_place

from .leftout import (
    pytest_addoption,
    pytest_make_collect_report,
    pytest_runtest_makereport,
    pytest_terminal_summary,
)

__all__ = [
    "pytest_addoption",
    "pytest_make_collect_report",
    "pytest_runtest_makereport",
    "pytest_terminal_summary",
]

settings.register_profile("wblab", deadline=None)
settings.load_profile("wblab")


def copy_lab(place: Path) -> Path:
    """Copy the lab to a directory, so that every user can read it, wherever the checkout is."""
    for name in ("wblab", "experiments", "linux-uml", "misc", "experiment.py", "live_experiment.py"):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy2
        copy(ROOT / name, place / name)
    for path in (place, *place.rglob("*")):
        path.chmod(0o755)
    return place


@pytest.fixture(autouse=True)
def _umask() -> Iterator[None]:
    """Give the process its umask back: a daemon that a test runs in it sets one of its own."""
    ours = os.umask(0o022)
    os.umask(ours)
    yield
    os.umask(ours)


@pytest.fixture(scope="session")
def readable_lab() -> Iterator[Path]:
    """A copy of the lab that every user can read."""
    with tempfile.TemporaryDirectory(dir="/var/tmp", prefix="wblab-tests-") as place:
        yield copy_lab(Path(place))


@pytest.fixture
def disk_path(tmp_path: Path) -> Iterator[Path]:
    """A directory whose files are on a disk, so that writing counts. /tmp is in memory on some machines."""
    for base in (tmp_path, Path("/var/tmp"), ROOT):
        if find_place(base).device:
            with tempfile.TemporaryDirectory(dir=base, prefix=".wblab-tests-") as place:
                yield Path(place)
            return
    pytest.skip("no directory here is on a disk")
