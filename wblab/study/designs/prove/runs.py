"""The runs of a proof: each is kept beside the run that it repeats, with its loads' times, and made once."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from hashlib import sha256
from json import dumps
from pathlib import Path

from wblab.analysis.runs.run import Run, guest_spec, read_run
from wblab.core.errors import WblabError
from wblab.core.spec import GuestKernel, Spec
from wblab.core.tables import to_table
from wblab.kernels import KernelResolver, built_kernels, full_name
from wblab.lab.progress import bar
from wblab.study.designs.prove.repeating import Original, Repeated, repeated
from wblab.study.designs.prove.trial import Make
from wblab.study.work import own_program

_PROOFS = "proof"
_DIGITS = 12  # of the digest in a directory's name
_LOOK_S = 0.2


def proofs(run: Path, results: Path) -> Path:
    """Return the directory for a proof's runs: inside the run that they are about, where `latest` never looks."""
    return run / _PROOFS if os.access(run, os.W_OK) else results / _PROOFS / run.name


@contextmanager
def maker(run: Run, results: Path, kernel: str) -> Iterator[Make]:
    """Yield what repeats a run with other specs. kernel: the value of --kernel. Raises InputError."""
    spec = guest_spec(run)
    chosen = (spec.on(full_name(kernel)) if kernel else spec).kernel
    with proving(run, proofs(run.path, results), chosen, built_kernels(kernel)) as make:
        yield make


@contextmanager
def proving(run: Run, directory: Path, chosen: GuestKernel, resolve: KernelResolver) -> Iterator[Make]:
    """Yield a function that returns the runs of specs, and makes those that the directory lacks.

    directory: all proofs of one run. Each build of the kernel and of the lab has its own there. Raises InputError.
    """
    kernel = resolve(chosen.build)
    path = directory / _digest(f"{kernel.build_id} {own_program()}")

    def kept(spec: Spec, made: Path) -> Path:
        return made.rename(path / _name(spec))

    with repeated(Original.of(run, kernel, chosen), path, kept) as at:
        yield _Proof(chosen, at).made


@dataclass(frozen=True)
class _Proof:
    chosen: GuestKernel
    at: Repeated[Path]

    def made(self, specs: Sequence[Spec]) -> list[Run]:
        """Return the runs of specs, in their order. Raises WblabError if one fails."""
        wanted = [replace(spec, kernel=self.chosen) for spec in specs]
        places = [self.at.path / _name(spec) for spec in wanted]
        lacking = {str(place): spec for place, spec in zip(places, wanted, strict=True) if not place.is_dir()}
        for key, spec in lacking.items():
            self.at.give(key, spec)
        with bar("repeating it") as report:
            left = len(lacking)
            while left:
                report(None, f"{len(lacking) - left} of {len(lacking)} runs")
                for _, made in self.at.ended(_LOOK_S):
                    if isinstance(made, str):
                        raise WblabError(made)
                    left -= 1
        return [read_run(place) for place in places]


def _name(spec: Spec) -> str:
    """Return the directory's name of a spec's run: what differs has another."""
    return f"{spec.name}-{_digest(dumps(to_table(spec), sort_keys=True))}"


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:_DIGITS]
