"""Make trials: repeat a known run with changes, several at a time, and keep a row of each beside the run.

A trial ends a little after the pause that it is about, and only its loads' times are kept. Where the kernel can do it,
trials are copies of the known run's guest at the loads' start: what comes before is run once by each worker.
"""

import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from json import dumps
from pathlib import Path

from wblab.analysis.runs.run import Run, guest_spec, read_run
from wblab.core.errors import InputError, WblabError
from wblab.core.spec import Spec
from wblab.core.tables import to_table
from wblab.host.copies import Copies, can_be_copied, copies, goes_on
from wblab.host.forked import Forked, forked
from wblab.host.machine import machine_lock, processors
from wblab.host.recorded import Finished, RunFailedError
from wblab.host.request import Request, make_run, ready
from wblab.kernels import Kernel
from wblab.lab.formats import read_object, write_json
from wblab.study.designs.prove.effect import RunPauses, row_of
from wblab.study.designs.prove.trial import loads_start_ns
from wblab.study.work import lost_events, own_program, unforeseen

Made = RunPauses | str  # a trial's row, or why there is none

LATE = "there was no time for it"

_WORK = ".work-"
_BEFORE_NS = 600_000_000  # so long before the loads' start all sleep, and nobody has looked at the course yet


@dataclass
class Bench:
    """Where trials of a known run are made. path: their rows; until_s: when the time is over, as time.monotonic has it.

    Workers start with the first trial that has no row yet. No thread is to run then.
    """

    known: Run
    kernel: Kernel
    path: Path
    until_s: float
    stack: ExitStack
    _workers: "Forked[Spec, Made] | None" = None
    _keys: dict[str, Path] = field(default_factory=dict)

    @property
    def slots(self) -> int:
        """How many trials can be made at once."""
        return processors()

    def kept(self, spec: Spec) -> RunPauses | None:
        """Return the row of a spec's run, if it was made before."""
        try:
            return RunPauses.from_json(read_object(self._file(spec), "the row of a trial"))
        except InputError:
            return None

    def give(self, key: str, spec: Spec) -> None:
        """Have the run of a spec made."""
        if self._workers is None:
            room = Path(tempfile.mkdtemp(prefix=_WORK, dir=self.path))
            self.stack.callback(shutil.rmtree, room, ignore_errors=True)
            own_program()  # so that forks know it
            work = _Work(self.known, self.kernel, room, self.until_s)
            self._workers = self.stack.enter_context(forked(self.slots, work, str, at_end=work.close))
            self.stack.callback(self._workers.cancel)
        self._keys[key] = self._file(spec)
        self._workers.give(key, spec)

    def ended(self, timeout_s: float) -> list[tuple[str, Made]]:
        """Return what has been made meanwhile, and keep its rows."""
        if self._workers is None:
            return []
        found = self._workers.ended(timeout_s)
        for key, made in found:
            if isinstance(made, RunPauses):
                with suppress(OSError):  # then it is made again next time
                    write_json(self._keys[key], made.to_json())
        return found

    def _file(self, spec: Spec) -> Path:
        said = dumps([to_table(spec), self.kernel.build_id, own_program()], sort_keys=True)
        return self.path / f"{sha256(said.encode()).hexdigest()[:32]}.json"


@contextmanager
def bench(known: Run, kernel: Kernel, path: Path, until_s: float) -> Iterator[Bench]:
    """Yield the place for a known run's trials; what is being made at the end is ended. Raises InputError."""
    with ExitStack() as stack:
        try:
            if path.parent.is_symlink():
                raise InputError(f"{path.parent} is a link, which is not followed here: remove it")
            path.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            stack.callback(os.close, descriptor)
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError("another wblab tries this run: wait for its end") from None
        except OSError as error:
            raise InputError(f"cannot keep trials in {path}: {error.strerror or error}") from None
        for left in path.glob(f"{_WORK}*"):  # of a process that was killed
            shutil.rmtree(left, ignore_errors=True)
        yield Bench(known, kernel, path, until_s, stack)


@dataclass
class _Work:
    """What a worker does. room: where it makes its runs.

    copies: of the known run's guest, once a trial has asked for one; None if it cannot be copied.
    """

    known: Run
    kernel: Kernel
    room: Path
    until_s: float
    stack: ExitStack = field(default_factory=ExitStack)

    @cached_property
    def copies(self) -> Copies | None:
        """What copies the known run's guest at the loads' start; None if it cannot be copied."""
        spec = guest_spec(self.known)
        if not can_be_copied(spec, self.kernel):
            return None
        place = Path(tempfile.mkdtemp(dir=self.room))
        moment_ns = loads_start_ns(self.known) - _BEFORE_NS
        try:
            return self.stack.enter_context(copies(self._ready(spec), moment_ns, place, self._report))
        except WblabError as error:
            if str(error) == LATE:
                raise
            return None

    def close(self) -> None:
        """End the guest that is copied."""
        self.stack.close()

    def __call__(self, spec: Spec) -> Made:
        """Return the row of a spec's run, or why there is none."""
        directory: Path | None = None
        try:
            request = self._ready(spec)
            with machine_lock(spec.clock.mode, lambda: self._report(None, "")):
                directory = self._made(request).directory
            return row_of(read_run(directory), self.known)
        except RunFailedError as error:
            directory = error.directory
            if directory and lost_events(directory):
                return row_of(read_run(directory), self.known)
            return str(error).replace(f" (see {directory})", "")
        except WblabError as error:
            return str(error)
        except Exception as error:
            return unforeseen(error).failure
        finally:
            if directory:
                shutil.rmtree(directory, ignore_errors=True)

    def _ready(self, spec: Spec) -> Request:
        return ready(spec, lambda name: self.kernel)

    def _made(self, request: Request) -> Finished:
        if goes_on(request.spec, guest_spec(self.known)) and self.copies:
            return self.copies.run(request, self.room, self._report, is_brief=True)
        return make_run(request, self.room, report=self._report, is_brief=True)

    def _report(self, share: float | None, text: str) -> None:
        if time.monotonic() > self.until_s:
            raise WblabError(LATE)
