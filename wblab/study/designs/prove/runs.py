"""The runs of a proof: a study that grows by one cell per repetition, so that no run is made twice."""

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from wblab.analysis.runs.run import Run, guest_spec, read_run
from wblab.core.errors import WblabError
from wblab.core.spec import GuestKernel, Spec
from wblab.host.request import ready
from wblab.kernels import Kernel, KernelResolver, built_kernels, full_name
from wblab.lab.formats import STUDY_FILE
from wblab.lab.progress import bar
from wblab.lab.results import STAGED
from wblab.study.cells import Cell, run_name
from wblab.study.cluster import forked
from wblab.study.designs.prove import NAME
from wblab.study.designs.prove.trial import Make
from wblab.study.following import Workers
from wblab.study.plan import Plan
from wblab.study.run import Runner
from wblab.study.store import Store, clear_failed
from wblab.study.work import own_program

_PROOFS = "proof"
_DIGITS = 12  # of the digest in a directory's name


def proofs(run: Path, results: Path) -> Path:
    """Return the directory for a proof's runs: inside the run that they are about, where `latest` never looks."""
    return run / _PROOFS if os.access(run, os.W_OK) else results / _PROOFS / run.name


def maker(run: Run, results: Path, kernel: str) -> AbstractContextManager[Make]:
    """Return what repeats a run with another spec. kernel: the value of --kernel. Raises InputError."""
    spec = guest_spec(run)
    chosen = spec.on(full_name(kernel)) if kernel else spec
    return proving(proofs(run.path, results), spec.seed, chosen.kernel, built_kernels(kernel))


@contextmanager
def proving(directory: Path, seed: int, chosen: GuestKernel, resolve: KernelResolver) -> Iterator[Make]:
    """Yield a function that returns the run of a spec, and makes it only if the directory lacks it.

    directory: all proofs of one run. Each build of the kernel and of the lab has its own study there; the first run
    creates it. Raises InputError.
    """
    kernel = resolve(chosen.build)
    path = directory / sha256(f"{kernel.build_id} {own_program()}".encode()).hexdigest()[:_DIGITS]
    with ExitStack() as stack:
        yield _Proof(path, seed, chosen, kernel, stack).made


@dataclass(frozen=True)
class _Proof:
    path: Path
    seed: int
    chosen: GuestKernel
    kernel: Kernel
    stack: ExitStack

    def made(self, spec: Spec) -> Run:
        """Return the run of a spec. Raises InputError, and WblabError if it fails."""
        spec = ready(replace(spec, kernel=self.chosen), lambda name: self.kernel).spec
        store, workers = self._study
        cell = next((cell for cell in store.plan.cells if cell.spec == spec), None)
        if cell is None:
            cell = Cell(f"{spec.name}-{len(store.plan.cells) + 1}", {}, spec)
            store.add([cell])
        name = run_name(cell, self.seed)
        with bar(name) as report:
            tally = Runner(store, workers, report, {name}).run()
        if tally.failures:
            raise WblabError(f"{tally.failures[0][1]} (see {store.runs / f'{STAGED}{name}'})")
        return read_run(store.runs / name)

    @cached_property
    def _study(self) -> tuple[Store, Workers]:
        self.path.mkdir(parents=True, exist_ok=True)
        if (self.path / STUDY_FILE).is_file():
            store = Store.open(self.path, NAME)
        else:
            plan = Plan(NAME, (self.seed,), (), design=NAME)
            store = Store.begin(self.path, plan, {self.chosen.build: self.kernel.describe()})
        self.stack.enter_context(store.held())
        clear_failed(store)
        return store, self.stack.enter_context(forked(1, store.room(), [self.chosen.build]))
