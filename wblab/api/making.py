"""Runs and studies that are made: as by `wblab run` and `wblab study`, or found where they exist."""

import json
import pickle
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any

from wblab.api.frames import results
from wblab.api.opening import latest
from wblab.core.errors import InputError, WblabError
from wblab.core.spec import Spec
from wblab.core.status import PHASES
from wblab.core.tables import to_table
from wblab.host.request import Request, make_run, notes, ready
from wblab.kernels import built_kernels, full_name
from wblab.lab.disks import disk_settings
from wblab.lab.formats import EXPERIMENT, RUN
from wblab.lab.printable import printable
from wblab.lab.progress import bar
from wblab.lab.results import SPECS
from wblab.lab.specfile import read_spec

if TYPE_CHECKING:
    from wblab.api.recorded import Run
    from wblab.api.several import Study
    from wblab.host.recorded import Finished


def run(  # noqa: PLR0913 - each has a default
    spec: "str | Path | Spec" = "base",
    *,
    set: Mapping[str, Any] | None = None,  # noqa: A002 - the command's word
    seed: int | None = None,
    kernel: str = "",
    disk: str = "",
    name: str | None = None,
    exp: "str | Path | None" = None,
    reuse: bool = False,
) -> "Run":
    """Boot a guest, run an experiment in it, and read what it recorded. Takes seconds.

    Args:
        spec: a preset of experiments/, a TOML file, a run's directory to repeat it, or a `Spec`.
        set: changes to the spec by key, such as {"disk.queue.nr_requests": 4, "disk.write_bps": "2MiB"}.
        seed: of all random choices (default: the spec's).
        kernel: a series ("6.12"), a built kernel's path, or a stock one ("stock:7.2"); see `wblab kernel list`.
        disk: the speed of a kind of disk ("hdd", "usb-stick"), or a TOML file of `wblab disk measure`.
        name: part of the directory's name (default: the spec's).
        exp: where results go (default: $WBLAB_EXP, else exp/ in the checkout or in this directory).
        reuse: take the latest run of the same spec and kernel, if there is one: in virtual time it would be the same.

    Raises InputError for a spec that cannot be run, before anything boots, and a `WblabError` if the run fails; its
    directory is kept.
    """
    from wblab.api.recorded import Run

    place = results(exp)
    if isinstance(spec, Spec):
        if set or disk or name is not None:
            raise InputError("a Spec is run as it is: change it with dataclasses.replace, or give a preset's name")
        chosen = spec.on(full_name(kernel)) if kernel else spec
        wanted = replace(chosen, seed=seed) if seed is not None else chosen
    else:
        settings = [
            *(disk_settings(disk) if disk else ()),
            *(f"{key}={_toml(key, it)}" for key, it in (set or {}).items()),
        ]
        wanted = asked(str(spec), settings, seed=seed, kernel=kernel, name=name)
    request = ready(wanted, built_kernels(kernel))
    found = _same(request, place) if reuse else None
    return Run.of(found or run_shown(request, place).directory)


def run_study(
    what: str | Path, *, seeds: int | None = None, exp: str | Path | None = None, reuse: bool = False, **options: Any
) -> "Study":
    """Make the many runs of a study, as `wblab study` does. Takes minutes; an exploration of a thousand runs, hours.

    Args:
        what: a name that `wblab study --list` prints, or a TOML file.
        seeds: runs of each cell (default: the study's own).
        exp: where results go.
        reuse: take the latest study of that name, if there is one.
        options: further options of the command, such as kernel="6.12" and jobs=4; a list of texts for those that may
            be given several times.

    Raises WblabError if it fails; what was made is kept, and the error says how to resume it. Raises InputError for
    what cannot be made, before anything runs.
    """
    from wblab.api.several import Study

    place = results(exp)
    if reuse and (found := latest(place, Path(what).stem)):
        return Study.of(found)
    return Study.of(_apart(place, {"what": str(what), "seeds": seeds} | options))


def asked(
    spec: str, settings: Sequence[str], *, seed: int | None = None, kernel: str = "", name: str | None = None
) -> Spec:
    """Return the spec of a name or file, with `key=value` settings, a seed, a kernel and a name. Raises InputError."""
    further = list(settings)
    # The record of a run may be read anywhere, so its kernel has a full name.
    for key, value in (("seed", seed), ("kernel", full_name(kernel) if kernel else None), ("name", name)):
        if value is not None:
            further.append(f"{key}={json.dumps(value)}")
    return read_spec(SPECS.find(spec), further)


def run_shown(
    request: Request, place: Path, *, meanwhile: Callable[[], None] = lambda: None, **options: Any
) -> "Finished":
    """Print notes on a request, then run it and show progress. `options` are those of run_experiment.

    meanwhile: called once while the guest runs.
    """
    for note in notes([request], here=True, seeds=1):
        _print_note(note)
    with bar(request.spec.name) as report:
        todo = [meanwhile]

        def reported(share: float | None, text: str) -> None:
            report(share, text)
            if todo and text in PHASES.values():
                todo.pop()()

        return make_run(request, place, report=reported, **options)


def _print_note(note: str) -> None:
    _print_line(f"wblab: {note}")


def _print_line(line: str) -> None:
    print(printable(line), file=sys.stderr)


def _toml(key: str, value: object) -> str:
    """Return a value of `set` as a setting has it. Raises InputError."""
    if isinstance(value, list | tuple | str | int | float):
        return json.dumps(value)
    raise InputError(f"set[{key!r}] is {value!r}: give a text, a number, true or false, or a list of them")


def _same(request: Request, place: Path) -> Path | None:
    """Return the latest run of the same spec and kernel in a directory of results."""
    for path in sorted(place.glob(f"[0-9]*_{request.spec.name}"), reverse=True):
        if (path / EXPERIMENT).is_file():
            record = RUN.read(path / EXPERIMENT)
            kernel = record.get("kernel") or {}
            is_same = record.get("spec") == json.loads(json.dumps(to_table(request.spec)))
            if is_same and record.get("outcome") == "succeeded" and kernel.get("build_id") == request.kernel.build_id:
                return path
    return None


_APART = "from wblab.api.making import make_apart; make_apart()"


def _apart(place: Path, options: Mapping[str, Any]) -> Path:
    """Return the directory of a study that is made in a process of its own: workers are forked, a notebook has threads.

    place: where results go. options: see `asked_for`. What the study says meanwhile is printed. Raises its error.
    """
    with TemporaryFile() as answer:
        command = [sys.executable, "-c", _APART]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=answer, stderr=subprocess.PIPE) as process:
            assert process.stdin
            with process.stdin as pipe:
                pickle.dump((place, dict(options)), pipe)
            for line in process.stderr or ():
                print(line.decode(errors="replace").rstrip(), flush=True)
        answer.seek(0)
        said = answer.read().decode().splitlines()
    if process.returncode or not said:
        raise WblabError(f"the study ended with exit code {process.returncode}: what it said is above")
    found = json.loads(said[-1])
    if "directory" not in found:
        raise (InputError if found["is_input"] else WblabError)(found["error"])
    return Path(found["directory"])


def make_apart() -> None:
    """Make the study that standard input asks for; print its directory, or why there is none, as JSON."""
    from wblab.study.asked import asked_for
    from wblab.study.subject import make

    try:
        place, options = pickle.load(sys.stdin.buffer)
        answer = make(asked_for(options, results=place, note=_print_note, failed=_print_line))
        for line in answer.failures.lines:
            _print_line(line)
        answer.check()
        found: dict[str, Any] = {"directory": str(answer.directory)}
    except WblabError as error:
        found = {"error": str(error), "is_input": isinstance(error, InputError)}
    print(json.dumps(found))
