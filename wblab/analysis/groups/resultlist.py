"""The runs and studies in a directory of results, with their changes and sizes."""

import os
import re
import time
from dataclasses import dataclass
from pathlib import Path

from wblab.analysis.groups.rowtables import count_rows
from wblab.analysis.runs.run import Run, read_run
from wblab.core.errors import InputError
from wblab.core.spec import Spec
from wblab.core.units import Bytes
from wblab.lab.changes import Presets, changes
from wblab.lab.designs import designs, noun
from wblab.lab.formats import (
    EXPERIMENT,
    LIVE,
    NOISY_MARK,
    RUNS,
    STUDY_FILE,
)
from wblab.lab.results import STAGED, directory_of, is_held, size_bytes

_DESIGN = re.compile(rb'"design": "(\w+)"')
_HEAD_BYTES = 1 << 12  # read from a file that may have many cells
_SETTLED_S = 24 * 3600  # an entry untouched for so long is no longer in use


@dataclass(frozen=True)
class ResultEntry:
    """A run, or a study of many runs.

    what: a run, a live run, or the kind of study. state: succeeded, failed, unfinished, or damaged. summary: a run's
    changes to its preset, or a study's number of runs. longest_ns: the longest pause of an innocent load; None if
    unknown. in_use: a process works on it, or may.
    """

    path: Path
    what: str
    state: str
    summary: str
    longest_ns: int | None
    size: Bytes
    changed_s: float
    in_use: bool

    @property
    def age_s(self) -> float:
        """The time since it was last written, in s."""
        return max(0.0, time.time() - self.changed_s)


def entries(results: Path) -> list[ResultEntry]:
    """Return the runs and studies in a directory, the latest last; other files are left out."""
    try:
        paths = [Path(item.path) for item in os.scandir(results) if item.is_dir(follow_symlinks=False)]
    except OSError as error:
        raise InputError(f"no results in {results}: {error.strerror}: make a run with 'wblab run'") from None
    presets: Presets = {}  # many runs are of the same one
    found = [entry for path in paths if (entry := _entry(path, presets))]
    return sorted(found, key=lambda entry: (entry.changed_s, entry.path.name))


def latest_study(results: Path, *of: str) -> Path:
    """Return the directory of the latest study of some designs. Raises InputError where there is none."""
    nouns = [noun(design) for design in of]
    found = [entry.path for entry in entries(results) if entry.what in nouns]
    if not found:
        what = nouns[0] if len(nouns) == 1 else "study"
        raise InputError(f"no {what} in {results}: 'wblab runs' lists what is there")
    return found[-1]


def study_named(given: Path, results: Path, *of: str) -> Path:
    """Return the directory of the study to resume: a path, a name among the results, or the designs' latest one.

    Raises InputError for the latest where there is none.
    """
    if str(given) == "latest" and not given.is_dir():
        return latest_study(results, *of)
    return directory_of(given, results)


def _entry(path: Path, presets: Presets) -> ResultEntry | None:
    try:
        study = _study_of(path)
        if study:
            return _study(path, study)
        return _run(path, presets) if (path / EXPERIMENT).is_file() else None
    except OSError:  # removed in the meantime, or owned by another user
        return None


def _study_of(path: Path) -> str:
    """Return the kind of study in a directory; empty for none. Raises OSError."""
    if (path / STUDY_FILE).is_file():
        with (path / STUDY_FILE).open("rb") as file:
            design = _DESIGN.search(file.read(_HEAD_BYTES))
        return noun(design[1].decode() if design else "")
    known = (entry for design in designs().values() for entry in design.alone.items())
    return next((what for name, what in known if (path / name).is_file()), "")


def _run(path: Path, presets: Presets) -> ResultEntry:
    changed_s, size = (path / EXPERIMENT).stat().st_mtime, size_bytes(path)
    try:
        run = read_run(path)
    except InputError as error:
        state = "failed" if path.name.startswith(STAGED) else "damaged"
        return ResultEntry(path, "run", state, str(error).partition(": ")[2], None, size, changed_s, in_use=False)
    state = str(run.record.get("outcome", "unfinished"))
    in_use = state == "unfinished" and time.time() - changed_s < _SETTLED_S
    what = "live run" if run.record["kind"] == LIVE else "run"
    return ResultEntry(path, what, state, _changes(run, presets), _longest_ns(run), size, changed_s, in_use)


def _changes(run: Run, presets: Presets) -> str:
    if not isinstance(run.spec, Spec):
        return ""
    seed = [f"seed {run.spec.seed}"] if run.spec.seed != 1 else []
    return ", ".join([run.spec.name, *seed, *changes(run.spec, presets)])


def _longest_ns(run: Run) -> int | None:
    pauses = [int(item.pauses_ns.max(initial=0)) for item in run.loads if item.load.role == "innocent"]
    return max(pauses, default=None)


def _rows(study: Path) -> int:
    """Return how many runs of a study have a row; 0 for damaged files."""
    try:
        return count_rows(study)
    except InputError:
        return 0


def _study(path: Path, what: str) -> ResultEntry:
    runs = [item.name for item in (path / RUNS).glob("[!.]*") if item.is_dir()] if (path / RUNS).is_dir() else []
    failed = sum(name.startswith(STAGED) for name in runs)
    made = max(_rows(path), sum(NOISY_MARK not in name for name in runs) - failed)  # some may have no row yet
    summary = ("1 run" if made == 1 else f"{made} runs") + (f", {failed} failed" if failed else "")
    return ResultEntry(path, what, "succeeded", summary, None, size_bytes(path), path.stat().st_mtime, is_held(path))
