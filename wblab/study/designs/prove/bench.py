"""Make trials: repeat a known run with changes, several at a time, and keep a row of each beside the run.

A trial ends a little after the pause that it is about, and only its loads' times are kept.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from hashlib import sha256
from json import dumps
from pathlib import Path

from wblab.analysis.runs.run import Run, read_run
from wblab.core.errors import InputError
from wblab.core.spec import Spec
from wblab.core.tables import to_table
from wblab.kernels import Kernel
from wblab.lab.formats import read_object, write_json
from wblab.study.designs.prove.effect import RunPauses, row_of
from wblab.study.designs.prove.repeating import Original, Repeated, repeated
from wblab.study.work import own_program

Made = RunPauses | str  # a trial's row, or why there is none


@dataclass
class Bench:
    """Where trials of a known run are made, and their rows kept."""

    kernel: Kernel
    _repeated: Repeated[RunPauses]
    _keys: dict[str, Path] = field(default_factory=dict)

    @property
    def slots(self) -> int:
        """How many trials can be made at once."""
        return self._repeated.slots

    def kept(self, spec: Spec) -> RunPauses | None:
        """Return the row of a spec's run, if it was made before."""
        try:
            return RunPauses.from_json(read_object(self._file(spec), "the row of a trial"))
        except InputError:
            return None

    def give(self, key: str, spec: Spec) -> None:
        """Have the run of a spec made. No thread is to run when the first one is."""
        self._keys[key] = self._file(spec)
        self._repeated.give(key, spec)

    def ended(self, timeout_s: float) -> list[tuple[str, Made]]:
        """Return what has been made meanwhile, and keep its rows."""
        found = self._repeated.ended(timeout_s)
        for key, made in found:
            if isinstance(made, RunPauses):
                with suppress(OSError):  # then it is made again next time
                    write_json(self._keys[key], made.to_json())
        return found

    def _file(self, spec: Spec) -> Path:
        said = dumps([to_table(spec), self.kernel.build_id, own_program()], sort_keys=True)
        return self._repeated.path / f"{sha256(said.encode()).hexdigest()[:32]}.json"


@contextmanager
def bench(known: Run, kernel: Kernel, path: Path, until_s: float) -> Iterator[Bench]:
    """Yield the place for a known run's trials; what is being made at the end is ended. Raises InputError.

    path: the directory of their rows. until_s: when the time is over, as time.monotonic has it.
    """

    def row(spec: Spec, directory: Path) -> RunPauses:
        return row_of(read_run(directory), known)

    with repeated(Original.of(known, kernel), path, row, until_s) as at:
        yield Bench(kernel, at)
