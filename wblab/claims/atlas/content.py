"""The content of a target, whatever its source: its store, what decides it, and the files of runs that it keeps."""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

from wblab.claims.atlas.target import Target
from wblab.host.bundle import program_sha256
from wblab.host.command import interpreter
from wblab.kernels import Kernel
from wblab.lab.formats import RUNS, STUDY_FILE
from wblab.lab.places import ROOT
from wblab.study.plan import Plan
from wblab.study.store import Store, clear_failed


def made_of(kernel: Kernel, rooms: tuple[str, ...], *content: Any) -> str:
    """Return a digest of everything that decides a target: kernel, lab, the code in `rooms` that judges, its content.

    content: as JSON.
    """
    found = [kernel.build_id, program_sha256(interpreter()), code_of(*rooms), *content]
    return sha256(json.dumps(found).encode())


def code_of(*rooms: str) -> str:
    """Return the digest of the Python files in these rooms."""
    paths = (path for room in rooms for path in sorted((ROOT / "wblab" / room).rglob("*.py")))
    return sha256(b"".join(path.read_bytes() for path in paths))


def sha256(content: bytes) -> str:
    """Return a digest in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


@contextmanager
def opened(
    directory: Path, target: Target, kernel: Kernel, plan: Plan, beside: Mapping[str, bytes] = MappingProxyType({})
) -> Iterator[Store]:
    """Open the store in a target's directory and lock it; create it if it is missing. Failed runs are made again.

    beside: further files of a new store, by name. Raises InputError, OSError.
    """
    if (directory / STUDY_FILE).is_file():
        store = Store.open(directory)
    else:
        store = Store.begin(directory, plan, {target.series: kernel.describe()}, beside)
    with store.held():
        clear_failed(store)
        yield store


def prune_runs(directory: Path, is_kept: Callable[[str], bool]) -> None:
    """Remove all files of a target's runs whose names are not kept. Raises OSError."""
    for path in (directory / RUNS).glob("*/*"):
        if not is_kept(path.name):
            path.unlink()
