"""Fixtures for tests that boot kernels. Each test's runs have a shared-memory directory of their own to check."""

import os
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from support.guestlab import Lab

from wblab.host.bundle import bundle
from wblab.host.command import interpreter
from wblab.kernels import Kernel, catalog, find_kernel

# The files that take longest begin, so that all processes end together: a file is tested in one process.
FIRST = (
    "clocks",
    "stock",
    "matrix",
    "notebooks",
    "lessons",
    "tried",
    "ab",
    "determinism",
    "verify",
    "lesson_notebook",
    "advise",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.uml)
    names = [f"test_{name}" for name in FIRST]
    items.sort(key=lambda item: names.index(item.path.stem) if item.path.stem in names else len(names))


@pytest.fixture(scope="session")
def kernel() -> Kernel:
    """The default kernel, or the one that $WBLAB_KERNEL names (a series or a path)."""
    built = find_kernel(os.environ.get("WBLAB_KERNEL"))
    assert built, "this kernel is not built: run 'make kernel' or 'wblab kernel build'"
    return built


@pytest.fixture(params=[entry.name for entry in catalog.load().series])
def series(request: pytest.FixtureRequest) -> str:
    """The name of each series that is built here, in turn."""
    name: str = request.param
    if not find_kernel(name):
        pytest.skip(f"the kernel {name} is not built: wblab kernel build {name}")
    return name


@pytest.fixture(scope="session")
def shared_lab(kernel: Kernel, tmp_path_factory: pytest.TempPathFactory) -> Lab:
    """A lab for runs that several tests share and none changes."""
    ours = tmp_path_factory.getbasetemp()
    of_all = ours.parent if "PYTEST_XDIST_WORKER" in os.environ else ours
    return Lab(kernel, tmp_path_factory.mktemp("exp"), Path("/dev/shm"), kept=of_all / "kept-runs")


@pytest.fixture(scope="session")
def storage_lab(shared_lab: Lab) -> Lab:
    """The shared lab, with the kernel that has swap, dm-crypt and FUSE."""
    name = "7.2+storage"
    kernel = find_kernel(name)
    if not kernel:
        pytest.skip(f"the kernel {name} is not built: wblab kernel build {name}")
    return replace(shared_lab, kernel=kernel)


@pytest.fixture
def lab(kernel: Kernel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lab]:
    shm = Path(tempfile.mkdtemp(prefix="wblab-test-", dir="/dev/shm"))
    monkeypatch.setenv("WBLAB_SHM", str(shm))
    yield Lab(kernel, tmp_path / "exp", shm)
    shutil.rmtree(shm)


@pytest.fixture
def guest_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Return a function that makes the guests of this test run another main program, with the lab's packages."""

    def replace(main: str) -> None:
        changed = tmp_path / "changed.pyz"
        with zipfile.ZipFile(bundle(interpreter())) as original, zipfile.ZipFile(changed, "w") as archive:
            for name in original.namelist():
                if name not in ("__main__.py", "__main__.pyc"):
                    archive.writestr(name, original.read(name))
            archive.writestr("__main__.py", main)
        monkeypatch.setattr("wblab.host.run.bundle", lambda interpreter: changed)

    return replace
