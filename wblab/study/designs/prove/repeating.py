"""Repeat a known run with changes, several at a time: workers, each with a guest of its own that is copied.

A repetition keeps only its loads' times. Where the kernel can do it, it is a copy of the known run's guest at the
loads' start: what comes before is run once by each worker.
"""

import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Generic, TypeVar

from wblab.analysis.runs.run import Run, guest_spec
from wblab.core.errors import InputError, WblabError
from wblab.core.spec import GuestKernel, Spec
from wblab.host.copies import Copies, can_be_copied, copies, goes_on
from wblab.host.forked import Forked, forked
from wblab.host.machine import machine_lock, processors
from wblab.host.recorded import Finished, RunFailedError
from wblab.host.request import Request, make_run, ready
from wblab.kernels import Kernel
from wblab.study.designs.prove.trial import loads_start_ns
from wblab.study.work import own_program, unforeseen

Kept = TypeVar("Kept")

LATE = "there was no time for it"

_WORK = ".work-"
_BEFORE_NS = 600_000_000  # so long before the loads' start all sleep, and nobody has looked at the course yet


@dataclass(frozen=True)
class Original:
    """What is repeated: a run's spec on a kernel, and when its loads start, in ns of the guest's clock."""

    spec: Spec
    start_ns: int
    kernel: Kernel

    @classmethod
    def of(cls, run: Run, kernel: Kernel, chosen: GuestKernel | None = None) -> "Original":
        """Return a run. chosen: its kernel in the spec, if it is another than the run's. Raises InputError."""
        spec = guest_spec(run)
        return cls(replace(spec, kernel=chosen or spec.kernel), loads_start_ns(run), kernel)


@dataclass
class Repeated(Generic[Kept]):
    """Repeats a run in a directory. kept: what is kept of a repetition's directory, by its spec; then it is removed.

    until_s: when the time is over, as time.monotonic has it. Workers start with the first repetition. No thread is to
    run then.
    """

    original: Original
    path: Path
    kept: Callable[[Spec, Path], Kept]
    until_s: float
    stack: ExitStack
    _workers: "Forked[Spec, Kept | str] | None" = None

    @property
    def slots(self) -> int:
        """How many repetitions can be made at once."""
        return processors()

    def give(self, key: str, spec: Spec) -> None:
        """Have the run of a spec made."""
        if self._workers is None:
            room = Path(tempfile.mkdtemp(prefix=_WORK, dir=self.path))
            self.stack.callback(shutil.rmtree, room, ignore_errors=True)
            own_program()  # so that forks know it
            work = _Work(self.original, room, self.kept, self.until_s)
            self._workers = self.stack.enter_context(forked(self.slots, work, str, at_end=work.close))
            self.stack.callback(self._workers.cancel)
        self._workers.give(key, spec)

    def ended(self, timeout_s: float) -> list[tuple[str, Kept | str]]:
        """Return what was kept of runs that have ended meanwhile, or why nothing was, by their keys."""
        return self._workers.ended(timeout_s) if self._workers else []


@contextmanager
def repeated(
    original: Original, path: Path, kept: Callable[[Spec, Path], Kept], until_s: float = float("inf")
) -> Iterator[Repeated[Kept]]:
    """Yield what repeats a run in a directory; what is being made at the end is ended. Raises InputError."""
    with ExitStack() as stack:
        try:
            if path.parent.is_symlink():
                raise InputError(f"{path.parent} is a link, which is not followed here: remove it")
            path.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            stack.callback(os.close, descriptor)
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError("another wblab repeats this run: wait for its end") from None
        except OSError as error:
            raise InputError(f"cannot keep repetitions in {path}: {error.strerror or error}") from None
        for left in path.glob(f"{_WORK}*"):  # of a process that was killed
            shutil.rmtree(left, ignore_errors=True)
        yield Repeated(original, path, kept, until_s, stack)


@dataclass
class _Work(Generic[Kept]):
    """What a worker does. room: where runs are made."""

    original: Original
    room: Path
    kept: Callable[[Spec, Path], Kept]
    until_s: float
    stack: ExitStack = field(default_factory=ExitStack)

    @cached_property
    def copies(self) -> Copies | None:
        """What copies the known run's guest at the loads' start, once a run asks for it; None if it cannot be."""
        if not can_be_copied(self.original.spec, self.original.kernel):
            return None
        place = Path(tempfile.mkdtemp(dir=self.room))
        try:
            at_ns = self.original.start_ns - _BEFORE_NS
            return self.stack.enter_context(copies(self._ready(self.original.spec), at_ns, place, self._report))
        except WblabError as error:
            if str(error) == LATE:
                raise
            return None

    def close(self) -> None:
        """End the guest that is copied."""
        self.stack.close()

    def __call__(self, spec: Spec) -> Kept | str:
        """Return what is kept of a spec's run, or why there is nothing."""
        directory: Path | None = None
        try:
            request = self._ready(spec)
            with machine_lock(spec.clock.mode, lambda: self._report(None, "")):
                directory = self._made(request).directory
            return self.kept(spec, directory)
        except RunFailedError as error:
            directory = error.directory
            return str(error).replace(f" (see {directory})", "")
        except WblabError as error:
            return str(error)
        except Exception as error:
            return unforeseen(error).failure
        finally:
            if directory:
                shutil.rmtree(directory, ignore_errors=True)

    def _ready(self, spec: Spec) -> Request:
        return ready(spec, lambda name: self.original.kernel)

    def _made(self, request: Request) -> Finished:
        if goes_on(request.spec, self.original.spec) and self.copies:
            return self.copies.run(request, self.room, self._report, is_brief=True)
        return make_run(request, self.room, report=self._report, is_brief=True)

    def _report(self, share: float | None, text: str) -> None:
        if time.monotonic() > self.until_s:
            raise WblabError(LATE)
