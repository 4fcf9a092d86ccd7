"""Runs and studies that exist: read, listed, or unpacked from a file of `wblab pack`."""

from pathlib import Path
from typing import TYPE_CHECKING

from wblab.api.frames import results
from wblab.core.units import NS_PER_S
from wblab.lab.formats import STUDY_FILE
from wblab.lab.wings import needed

if TYPE_CHECKING:
    import pandas as pd

    from wblab.api.recorded import Run
    from wblab.api.several import Study


def read(what: "str | Path" = "latest", *, exp: "str | Path | None" = None) -> "Run | Study":
    """Read a run or a study.

    Args:
        what: its directory; the beginning or end of a run's name; the name of a matrix or a design, for the latest
            study of it; or "latest", the last run that succeeded.
        exp: where results are (default: $WBLAB_EXP, else exp/ in the checkout or in this directory).

    Raises InputError if there is none, if several runs have the name, and for damaged files.
    """
    from wblab.analysis.runs.run import find_run
    from wblab.api.recorded import Run
    from wblab.api.several import Study

    place, name = results(exp), str(what)
    for path in (Path(name), place / name):
        if (path / STUDY_FILE).is_file():
            return Study.of(path)
    if name != "latest" and (study := latest(place, name)):
        return Study.of(study)
    return Run.of(find_run(name, place))


def latest(place: Path, name: str) -> Path | None:
    """Return the directory of the latest study of a name, in a directory of results; None if there is none."""
    return max((path.parent for path in place.glob(f"[0-9]*_{name}/{STUDY_FILE}")), default=None)


def runs(*, exp: "str | Path | None" = None) -> "pd.DataFrame":
    """Return the runs and studies among the results, the latest last, a row each by `name`.

    Columns: `what` (a run, a live run, or the kind of study), `state` (succeeded, failed, unfinished, damaged),
    `summary` (a run's changes to its preset, a study's number of runs), `longest_pause_s` (of an innocent load; NaN if
    unknown), `size_bytes`, `path`. Raises InputError if there is no such directory.
    """
    from wblab.analysis.groups.resultlist import entries
    from wblab.api.frames import frame

    rows = [
        (it.path.name, it.what, it.state, it.summary, None if it.longest_ns is None else it.longest_ns / NS_PER_S,
         it.size, it.path)
        for it in entries(results(exp))
    ]  # fmt: skip
    found = frame(rows, ("name", "what", "state", "summary", "longest_pause_s", "size_bytes", "path"), "name")
    return found.astype({"longest_pause_s": float})


def open(file: "str | Path", *, to: "str | Path | None" = None, exp: "str | Path | None" = None) -> "Run | Study":  # noqa: A001
    """Read a file of `wblab pack`, from anybody: check it, and keep it as a directory.

    Args:
        file: the file.
        to: a new directory for it (default: its own name, among the results).
        exp: where results are.

    Nothing in it is run. Raises InputError for a file that is damaged or false, and for a directory that exists.
    """
    return read(needed("opening packed files")(Path(file), Path(to) if to else None, results(exp)))
