"""What bundle.json says: of which runs a bundle is, what they measured, and which files it has.

All but the last two keys follow from the files. So a reader computes them again and compares; `headline` alone may
differ, because it is a sentence that later versions of the lab may word otherwise.
"""

import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from wblab.analysis.runs.digest import digest
from wblab.analysis.runs.pauses import DEFAULT_BOUND_NS, pause_report
from wblab.analysis.runs.run import SUCCEEDED, NothingMeasuredError, Run, read_run
from wblab.core.errors import InputError
from wblab.core.loads import KINDS, Load
from wblab.core.spec import Spec
from wblab.kernels import Kernel, built_kernel
from wblab.kernels.build import result
from wblab.kernels.features import on_processors
from wblab.kernels.kernel import load
from wblab.lab.formats import EXPERIMENT, LIVE, RUN, Format
from wblab.lab.kernelname import processors_in
from wblab.lab.progress import Report, silent
from wblab.lab.specfile import LiveSpec
from wblab.publish.bundle.members import Kind
from wblab.report.pausetext import headline
from wblab.study.cells import run_name
from wblab.study.made import made_of
from wblab.study.plan import Plan
from wblab.study.store import Store

# The kernel that repeats a run from elsewhere: the same build if it is here, else one of the same series.

_BUILD_ID = re.compile(r"[0-9a-f]{64}")
_SERIES = re.compile(r"\d{1,4}\.\d{1,4}")


def kernel_for(spec: Spec, made: Mapping[str, Any]) -> Kernel:
    """Return the kernel for a repetition. A record may choose among the lab's builds here, and no other program.

    made: the record of the kernel that the run had. Raises InputError, with what to run, if it is not built here.
    """
    build_id, series = str(made.get("build_id")), str(made.get("series"))
    is_ours = _BUILD_ID.fullmatch(build_id) is not None
    if is_ours and (built := load(result(build_id))) and built.build_id == build_id:
        return on_processors(built, processors_in(spec.kernel.name)[1], spec.kernel.name)
    named = spec.kernel.name or (series if _SERIES.fullmatch(series) else "")
    try:
        return built_kernel(replace(spec.kernel, name=named).build)
    except InputError as error:
        build = f", build {build_id[:12]}" if is_ours else ""
        raise InputError(f"it was made by Linux {made.get('release')}{build}: {error}") from None


BUNDLE = Format("a bundle", 1, ("run", "study"))
_KERNEL_KEYS = ("series", "release", "build_id", "source")


@dataclass(frozen=True)
class Member:
    """A file in a bundle: its path, its size in bytes, and its SHA-256."""

    name: str
    size: int
    sha256: str


@dataclass(frozen=True)
class PackedRun:
    """A run of a bundle: its values in bundle.json, and where it lies. The runs of a study would fill the memory.

    spec: as this lab reads it. is_measured: a load completed a cycle.
    """

    values: Mapping[str, Any]
    path: Path
    spec: Spec | LiveSpec | None
    is_measured: bool

    def read(self) -> Run | None:
        """Return the run; None if it measured nothing. Raises InputError."""
        return read_run(self.path) if self.is_measured else None


def told(path: Path, name: str) -> PackedRun:
    """Read a run. Raises InputError for a damaged one, one of this machine itself, and one that has not ended."""
    record = RUN.read(path / EXPERIMENT)
    if record["kind"] == LIVE:
        folder = path.resolve()
        carried = shlex.join(["tar", "-czf", f"{folder.name}.tar.gz", "-C", str(folder.parent), folder.name])
        raise InputError(
            f"{path} is a live run: its traces name this machine's programs and kernel addresses, so it is not for "
            f"publication. To carry it to another machine of yours, for 'wblab why': {carried}"
        )
    try:
        run = read_run(path)
        measured, words = digest(run), headline(pause_report(run), is_bare=True)
    except NothingMeasuredError:
        run, measured, words = None, "", "It measured nothing."
    outcome = record.get("outcome")
    if outcome not in (SUCCEEDED, "failed"):
        raise InputError(f"{path} has not ended: wait for its end, or pack another run")
    kernel = record.get("kernel") or {}
    values = {
        "name": name,
        "spec": record.get("spec"),
        "kernel": {key: kernel.get(key) for key in _KERNEL_KEYS} if isinstance(kernel, dict) else {},
        "outcome": outcome,
        "digest": measured,
        "headline": words,
        "pauses": list(_pauses(run)) if run else [],
    }
    return PackedRun(values, path, run.spec if run else None, run is not None)


def _pauses(run: Run) -> Iterator[dict[str, Any]]:
    """Yield what each load measured, in whole nanoseconds: floating-point sums could differ between machines."""
    for item in run.loads:
        over = item.pauses_ns > DEFAULT_BOUND_NS
        yield {
            "load": item.name,
            "kind": item.load.kind,
            "role": KINDS.get(item.load.kind, Load).role,
            "disk": item.load.disk,
            "cycles": len(item.durations_ns),
            "duration_ns": int(item.boundaries_ns[-1] - item.boundaries_ns[0]),
            "longest_pause_ns": int(item.pauses_ns.max()),
            "paused_ns": int(item.pauses_ns.sum()),
            "pauses_over_bound": int(over.sum()),
        }


def all_told(path: Path, kind: Kind, name: str, runs: Sequence[str], report: Report = silent) -> dict[str, PackedRun]:
    """Read the runs in a directory, by their names. runs: the paths of a study's runs. Raises InputError."""
    if kind == "run":
        return {name: told(path, name)}
    found = {}
    for number, each in enumerate(runs):
        report(number / len(runs), f"reading run {number + 1} of {len(runs)}")
        found[Path(each).name] = told(path / each, Path(each).name)
    return found


def described(path: Path, kind: Kind, name: str, runs: Mapping[str, PackedRun]) -> dict[str, Any]:
    """Return bundle.json without its last two keys. Raises InputError for a damaged study."""
    digests = {run: item.values["digest"] for run, item in runs.items()}
    about = {}
    if kind == "study":
        store = Store.open(path)
        rows = _rows(store)
        if not (runs or rows):
            raise InputError(f"{path} has no run yet: make some with 'wblab {store.plan.design} --resume {path}'")
        _check_specs(path, store.plan, runs)
        about = {"study": _study(store, len(rows))}
        digests |= {name: rows[name] for name in sorted(rows)}
    content = BUNDLE.head(kind) | {"name": name, "digest": _digest(digests, kind), "bound_ns": DEFAULT_BOUND_NS}
    return content | about | {"runs": [dict(item.values) for item in runs.values()]}


def _rows(store: Store) -> dict[str, str]:
    """Return the digests of the runs of which a bundle has the row alone, by name: of all, or of none.

    Rows of runs whose directories it has are made anew from those. Raises InputError for a study with a run twice.
    """
    if store.keeps_directories:
        return {}
    made = list(made_of(store))
    if twice := next((each.name for each in made if each.directory), None):
        raise InputError(f"{store.path} has the directory of {twice}, though it keeps none: it is damaged")
    return {each.name: each.digest for each in made}


def _study(store: Store, rows: int) -> dict[str, Any]:
    """Return what a study is. The cells of one without directories may be too many to name here."""
    plan = store.plan
    cells = [{"name": cell.name, "levels": cell.levels} for cell in plan.cells] if store.keeps_directories else []
    return {"design": plan.design, "cells": cells, "seeds": list(plan.seeds), "rows": rows}


def _check_specs(path: Path, plan: Plan, runs: Mapping[str, PackedRun]) -> None:
    """Raise InputError for a run of another spec than its cell's."""
    for cell, seed in plan.runs():
        item = runs.get(run_name(cell, seed))
        if item and item.spec and item.spec != cell.with_seed(seed):
            raise InputError(f"{path}: the run {run_name(cell, seed)} has another spec than its cell")


def _digest(digests: Mapping[str, str], kind: Kind) -> str:
    """Return a run's digest; of a study that of a line `NAME DIGEST` for each run."""
    if kind == "run":
        return next(iter(digests.values()))
    return sha256("".join(f"{name} {value}\n" for name, value in digests.items()).encode()).hexdigest()


def encoded(content: Mapping[str, Any], packed_sha256: str, files: Sequence[Member]) -> bytes:
    """Return the bytes of bundle.json, which has one permitted spelling: a line of ASCII."""
    rest = {"packed_sha256": packed_sha256, "files": [asdict(member) for member in files]}
    return (json.dumps(dict(content) | rest, separators=(",", ":")) + "\n").encode()
