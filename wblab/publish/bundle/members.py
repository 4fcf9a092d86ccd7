"""Which files belong to a run or a study, and so into a bundle, and how large each may be.

Pages and pictures stay out: a page from somebody else may hold a script, and the lab draws both anew. So do the rows of
runs whose directories are in it: they are made anew from those.
"""

import os
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from wblab.core.errors import InputError
from wblab.core.files import is_file
from wblab.core.layout import LEFT
from wblab.core.loads.base import MAX_CYCLES
from wblab.core.rundir import TRACE
from wblab.core.units import format_bytes
from wblab.host.process.collect import is_expected
from wblab.lab.formats import (
    ADVICE_FILE,
    ANALYSED,
    BISECTION_RECORD,
    CELLS,
    CONFIG,
    CONSOLE,
    DESIGN,
    EXPERIMENT,
    ROWS,
    RUNS,
    STUDY_FILE,
    TRIED,
    VERDICTS,
)
from wblab.lab.layouts import LAYOUTS

Kind = Literal["run", "study"]

ABOUT = "bundle.json"  # the first member
MOST_JSON_BYTES = 4 << 20  # Python may take 25 times as much memory
_MOST_RECORD_BYTES = 1 << 20  # of a run, or of a load
_MOST_DESIGN_BYTES = 16 << 20  # its sample is one text: 50,000 rows of 30 factors
_MOST_LOG_BYTES = 64 << 20
_MOST_TRACE_BYTES = 1 << 30
_MOST_ROW_BYTES = 8 * MAX_CYCLES + (1 << 20)  # of all loads of a run
MOST_UNPACKED_BYTES = 4 << 30

_OF_A_RUN = frozenset((EXPERIMENT, CONSOLE, CONFIG, LAYOUTS))  # and what a guest leaves
_OF_A_STUDY = frozenset(
    (STUDY_FILE, CELLS, DESIGN, ANALYSED, ADVICE_FILE, VERDICTS, TRIED, BISECTION_RECORD, "ab.json")
)
_RUN = re.compile(r"_?[A-Za-z0-9][A-Za-z0-9._-]{0,127}")  # <cell>-s<seed>, perhaps with -2 or .noisy; _ if it failed
_ROWS = re.compile(rf"{ROWS}/\d{{4}}\.parquet")
_LEFT_PART = re.compile(r"(?!\.{1,2}$)[A-Za-z0-9._+=@:-]{1,128}")
_MOST_LEFT_PARTS = 10
_TITLE = re.compile(r"_?[A-Za-z0-9][A-Za-z0-9._+=@-]{0,127}")


def is_title(text: object) -> bool:
    """Whether a text can name a bundle, and the directory that it is opened to."""
    return isinstance(text, str) and _TITLE.fullmatch(text) is not None


def title_of(path: Path, instead: str) -> str:
    """Return the name of a run's or a study's directory, or another where it has spaces or other letters."""
    name = path.resolve().name
    return name if is_title(name) else instead


def is_member(name: str, kind: Kind) -> bool:
    """Whether a file with this path, relative to its run or study, belongs to it."""
    if kind == "run":
        return _is_of_a_run(name)
    if name in _OF_A_STUDY or _ROWS.fullmatch(name):
        return True
    folder, _, within = name.partition("/")
    run, _, file = within.partition("/")
    return folder == RUNS and _RUN.fullmatch(run) is not None and _is_of_a_run(file)


def _is_of_a_run(name: str) -> bool:
    folder, *parts = name.split("/")
    if folder == LEFT:
        return 0 < len(parts) < _MOST_LEFT_PARTS and all(map(_LEFT_PART.fullmatch, parts))
    return name in _OF_A_RUN or is_expected(name)


def check_members(names: Iterable[str], sizes: Iterable[int], kind: Kind) -> None:
    """Raise ValueError unless files of these names and sizes are those of one run or study, each once and in order."""
    listed, total = list(names), 0
    times_bytes: Counter[str] = Counter()  # by run: all loads of a run are in memory at once
    if listed != sorted(set(listed)):
        raise ValueError("its members are not in order, or one is there twice")
    for name, size in zip(listed, sizes, strict=True):
        if not is_member(name, kind):
            raise ValueError(f"its {name[:100]!r} is no file of a {kind}")
        check_size(name, size)
        total += size
        times_bytes[run_of(name)] += size if name.endswith(".npy") else 0
    if max(times_bytes.values(), default=0) > _MOST_ROW_BYTES:
        raise ValueError(f"the times of its loads are larger than {format_bytes(_MOST_ROW_BYTES)}")
    if total > MOST_UNPACKED_BYTES:
        raise ValueError(f"it would unpack to more than {format_bytes(MOST_UNPACKED_BYTES)}")
    if folders := {str(folder) for name in listed for folder in Path(name).parents} & set(listed):
        raise ValueError(f"its {min(folders)!r} is a file and a folder")


def check_size(name: str, size: int) -> None:
    """Raise ValueError for a file that is larger than one of its kind may be."""
    if size > (most := _most_bytes(name)):
        raise ValueError(f"its {name[:100]!r} is larger than {format_bytes(most)}")


def _most_bytes(name: str) -> int:
    base = name.rpartition("/")[2]
    if f"/{LEFT}/" in f"/{name}":
        return _MOST_LOG_BYTES
    if base.startswith(TRACE):
        return _MOST_TRACE_BYTES
    if base == EXPERIMENT or (base.startswith("load.") and base.endswith(".json")):
        return _MOST_RECORD_BYTES
    if name == DESIGN:
        return _MOST_DESIGN_BYTES
    return {".json": MOST_JSON_BYTES, ".toml": MOST_JSON_BYTES, ".npy": _MOST_ROW_BYTES}.get(
        os.path.splitext(base)[1], _MOST_LOG_BYTES
    )


def run_of(name: str) -> str:
    """Return the path of the run, relative to its study, that a member belongs to; empty for the study's own."""
    return "/".join(name.split("/")[:2]) if name.startswith(f"{RUNS}/") else ""


def found(path: Path, kind: Kind) -> tuple[list[str], list[str]]:
    """Return the files in a directory that belong to its run or study, and the others, in order."""
    inside: list[str] = []
    others: list[str] = []
    for folder, folders, files in os.walk(path):
        for file in (*files, *(each for each in folders if os.path.islink(os.path.join(folder, each)))):
            name = os.path.relpath(os.path.join(folder, file), path)
            (inside if is_member(name, kind) and is_file(path / name) else others).append(name)
    return sorted(inside), sorted(others)


def kind_of(path: Path) -> Kind:
    """Return what lies in a directory. Raises InputError if it is no run and no study."""
    if is_file(path / STUDY_FILE):
        return "study"
    if is_file(path / EXPERIMENT):
        return "run"
    raise InputError(f"{str(path)!r} is no run and no study: give the directory of one; 'wblab runs' lists them")
