"""Runs that go on from one moment of one guest, instead of each from its boot: what comes before is run once."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from wblab.core import layout
from wblab.core.copied import Course
from wblab.core.errors import InputError
from wblab.core.loads.base import NEVER
from wblab.core.spec import Spec
from wblab.core.units import Nanoseconds
from wblab.host.bundle import bundle
from wblab.host.command import interpreter
from wblab.host.guestlab import guest_lab
from wblab.host.process.boot import Ended
from wblab.host.process.copies import Standing, standing
from wblab.host.recorded import Finished, recorded
from wblab.host.request import Request
from wblab.host.run import begun, drop_trace, guest_texts, prepared, progress
from wblab.kernels import Kernel, features
from wblab.lab.formats import CONSOLE, EXPERIMENT, write_json
from wblab.lab.progress import Report, silent


def can_be_copied(spec: Spec, kernel: Kernel) -> bool:
    """Whether a guest with this spec can stand still and be copied."""
    return "copies" in features(kernel) and kernel.processors == 1 and spec.clock.mode == "virtual"


def goes_on(spec: Spec, known: Spec) -> bool:
    """Whether a spec differs from another only in what a copy of its guest can be told."""
    return _fixed(spec) == _fixed(known)


def _fixed(spec: Spec) -> Spec:
    loads = {name: replace(load, until=NEVER) for name, load in spec.load.items()}
    return replace(spec, name="", phase={}, load=loads, time_limit=Nanoseconds(1))


class Copies:
    """Makes runs as copies of a guest that stands still."""

    def __init__(self, request: Request, at: Standing) -> None:
        self._known, self._at = request, at

    def run(self, request: Request, results: Path, report: Report = silent, *, is_brief: bool = False) -> Finished:
        """Make the run of a request, and keep it in a new directory below `results`. Raises RunFailedError.

        is_brief: only the loads' times are kept. Raises InputError for a run that does not go on from this guest.
        """
        if not goes_on(request.traced, self._known.traced):
            raise InputError("this run differs from the guest that is copied in more than what comes later")

        def make(staged: Path, record: dict[str, Any]) -> Ended:
            texts = guest_texts(request.traced)
            first_ns = min((phase.at for phase in request.spec.phase.values()), default=NEVER)
            del texts[layout.PARAMETERS]
            write_json(staged / EXPERIMENT, record)
            course = Course.of(request.spec, first_ns, is_brief=is_brief)
            ended = self._at.copy(course, texts, staged, *progress(request.traced, report))
            if is_brief:
                drop_trace(staged)
            return ended

        return recorded(results, request.spec.name, begun(request), make)


@contextmanager
def copies(request: Request, moment_ns: int, room: Path, report: Report = silent) -> Iterator[Copies]:
    """Run the guest of a request up to a moment of its clock, and yield what copies it. Raises WblabError.

    A guest looks at its course at the loads' start and then each second. So a copy is the run that has a change from
    its boot if the change comes a second after the moment, or the moment lies before the loads' start.
    room: a directory for what the guest itself prints.
    """
    spec = request.traced
    (room / CONSOLE).touch()
    with (
        prepared(
            spec, request.kernel, room, report, program=bundle(interpreter()), guests_lab=guest_lab(spec, None)
        ) as boot,
        standing(boot, moment_ns, progress(spec, report)[1]) as at,
    ):
        yield Copies(request, at)
