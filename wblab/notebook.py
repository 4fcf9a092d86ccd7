"""What the notebooks speak of: each finds its runs among the results, or makes them, and takes no other's for its own.

A run of a preset is found by its name, the default kernel and an unchanged spec, a matrix by its name. Where there is
none it is made, as by `wblab run` and `wblab study`, with what they say as it goes on.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

from wblab.analysis.runs.run import Run, find_run, read_run
from wblab.core.errors import InputError, WblabError
from wblab.core.spec import Spec
from wblab.lab.changes import changes
from wblab.lab.formats import DESIGN, EXPERIMENT, TABLE
from wblab.lab.places import RESULTS

RUN_VARIABLE = "WBLAB_RUN"
RUNS_VARIABLE = "WBLAB_RUNS"  # with a colon between them


def run_of(preset: str) -> Run:
    """Return the run that $WBLAB_RUN names, else the latest of a preset as it stands, else one that is made now.

    Raises InputError for a name that is none, WblabError where the run fails.
    """
    if name := os.environ.get(RUN_VARIABLE):
        return read_run(find_run(name, RESULTS))
    for path in sorted(RESULTS.glob(f"[0-9]*_{preset}"), reverse=True):
        if (path / EXPERIMENT).is_file() and _is_plain(found := read_run(path)):
            return found
    return read_run(_made("run", preset))


def matrix_of(matrix: str) -> Path:
    """Return the directory of the latest matrix of a name, or of one that is made now. Raises WblabError."""
    found = sorted(RESULTS.glob(f"[0-9]*_{matrix}/{TABLE}"), key=lambda path: path.stat().st_mtime_ns)
    return found[-1].parent if found else _made("matrix", matrix)


def runs_of(matrix: str) -> list[Run]:
    """Return the runs of $WBLAB_RUNS, each a run or a matrix, else those of a matrix: see `matrix_of`.

    Of a matrix, those that count. Raises InputError, WblabError.
    """
    from wblab.analysis.runs.observations import matrix_runs  # with pandas, which takes longer than drawing one run

    names = _chosen() or [str(matrix_of(matrix))]
    paths = [path for name in names for path in matrix_runs(Path(name)) or [find_run(name, RESULTS)]]
    return [run for run in map(read_run, paths) if not run.failure]


def cells_of(matrix: str) -> dict[str, Run]:
    """Return the runs of `runs_of` by what their cells are called, without numbers and seeds. Raises InputError."""
    return {re.sub(r"^\d+-|-s\d+$", "", run.spec.name): run for run in runs_of(matrix)}


def groups_of(matrix: str) -> list[str]:
    """Return what is compared, for `found_observations`: what $WBLAB_RUNS names, else a matrix: see `matrix_of`."""
    return _chosen() or [str(matrix_of(matrix))]


def exploration_of(design: str) -> Path:
    """Return the directory of the exploration of $WBLAB_RUNS, else the latest of a design.

    Raises InputError where there is none: to make one takes a thousand runs.
    """
    if names := _chosen():
        found = [path for path in (Path(names[0]), RESULTS / names[0]) if (path / DESIGN).is_file()]
    else:
        found = sorted(path.parent for path in RESULTS.glob(f"[0-9]*_{design}/{DESIGN}"))
    if not found:
        which = f"{names[0]!r} is no exploration" if names else f"the exploration {design!r} was not made here"
        raise InputError(f"{which}: 'wblab study {design}' makes one, of a thousand runs")
    return found[-1]


def _chosen() -> list[str]:
    return [name for name in os.environ.get(RUNS_VARIABLE, "").split(os.pathsep) if name]


def _is_plain(run: Run) -> bool:
    """Return whether a run is one of its preset as it stands, with the default kernel."""
    spec = run.spec
    return (
        not run.failure and isinstance(spec, Spec) and (spec.kernel.build, spec.seed) == ("", 1) and not changes(spec)
    )


def _made(verb: str, name: str) -> Path:
    """Return what the lab makes, by a process of its own: a notebook's is no place to fork workers from."""
    command = [sys.executable, "-m", "wblab", verb, name, "--exp", str(RESULTS)]
    said = ""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        for line in process.stdout or ():
            said = line.strip()
            print(said, flush=True)
    if process.returncode:
        raise WblabError(f"wblab {verb} {name} failed: {said.removeprefix('wblab: ')}")
    return Path(said)
