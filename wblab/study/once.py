"""A run that is made once, and found again by what it was made of."""

import json
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from wblab.analysis.runs.run import Run, read_run
from wblab.core.spec import Spec
from wblab.core.tables import to_table
from wblab.host.bundle import program_sha256
from wblab.host.command import interpreter
from wblab.host.process.limits import Limits
from wblab.host.request import Request, make_run, ready
from wblab.kernels import KernelResolver
from wblab.lab.formats import EXPERIMENT
from wblab.lab.held import held, replace_file, through
from wblab.lab.progress import Report, silent

_MADE = ".made"  # in a directory of runs: a file for each run, with its name


def made(wanted: Spec, results: Path, resolve: KernelResolver, limits: Limits, report: Report = silent) -> Run:
    """Return the run of a spec: the one in `results`, or a new one. Raises InputError, RunFailedError."""
    request = ready(wanted, resolve)
    if earlier := _earlier(request, results):
        return earlier
    run = read_run(make_run(request, results, report=report, limits=limits).directory)
    note = _note(request, results)
    with held(note.parent, make=True) as directory, replace_file(through(directory) / note.name) as file:
        file.write(run.path.name.encode())
    return run


def found(wanted: Spec, results: Path, resolve: KernelResolver) -> Run | None:
    """Return the run of a spec that is in `results`. Raises InputError."""
    return _earlier(ready(wanted, resolve), results)


def _earlier(request: Request, results: Path) -> Run | None:
    with suppress(OSError):
        path = results / _note(request, results).read_text()
        if (path / EXPERIMENT).is_file():
            return read_run(path)
    return None


def _note(request: Request, results: Path) -> Path:
    """Return the file that names the run of a spec, a kernel and the guest's program. The order of loads counts."""
    made_of = [to_table(request.spec), request.kernel.describe()["build_id"], program_sha256(interpreter())]
    return results / _MADE / sha256(json.dumps(made_of, default=str).encode()).hexdigest()
