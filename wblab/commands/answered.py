"""What `run` and `live` say at their end on standard error: the answer of `wblab why`, and what to do next."""

import os
import shlex
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from wblab.commands.common import note
from wblab.core.child import fork_child
from wblab.core.errors import WblabError
from wblab.lab.extras import missing_core

if TYPE_CHECKING:
    from wblab.analysis.runs.run import Run
    from wblab.analysis.why.explain import Explanation

_EXPLAINS = ("wblab.analysis.why.explanations", "wblab.report.whyanswer", "wblab.report.lanestext")
_TIMES_SIZE = 8  # memory to explain a pause, by the size of its trace


def prepare() -> None:
    """Load what explains a run: while its guest runs, a processor is free for that."""
    with suppress(ModuleNotFoundError):
        for module in _EXPLAINS:
            import_module(module)


def print_answered(directory: Path, answer: Callable[[Path], None] | None = None) -> None:
    """Print the answer, and last the directory: on standard output, and whatever interrupts the answer."""
    try:
        (answer or print_answer)(directory)
    finally:
        print(directory)


def print_answer(directory: Path, times_size: int = _TIMES_SIZE) -> None:
    """Explain the run in a directory in one sentence, and name the next command.

    times_size: memory to explain a pause, by the size of its trace; where that is not free, nothing is explained.
    """
    try:
        owner = os.stat(directory)
    except OSError:  # whoever may write above it has moved it
        return
    if os.geteuid() == 0 and owner.st_uid:  # root made it for another user, who may change it since: be that user

        def explain() -> None:
            os.setgroups([])
            os.setgid(owner.st_gid)
            os.setuid(owner.st_uid)
            _print(directory, times_size)

        os.waitpid(fork_child(explain), 0)
    else:
        _print(directory, times_size)


def _print(directory: Path, times_size: int) -> None:
    try:
        lines = _lines(directory, times_size)
        _draw(directory)
    except ModuleNotFoundError as error:  # what records a live run is the standard library alone
        if not missing_core(error.name or ""):
            raise
        carried = shlex.join(["tar", "-czf", f"{directory.name}.tar.gz", "-C", str(directory.parent), directory.name])
        why = f"wblab why {shlex.quote(str(directory))}"
        lines = [
            f"To know what caused its pauses, where the lab is set up (make setup): {why}",
            f"To carry it: {carried}",
        ]
    except (WblabError, OSError):  # the verbs that read it say what it lacks
        lines = [f"next: wblab why --pauses {directory}"]
    for line in lines:
        note(line)


def _draw(directory: Path) -> None:
    """Draw the lanes of the run in a directory on standard error, if a load of it was frozen."""
    from wblab.analysis.runs.lanes import lanes_of
    from wblab.analysis.runs.run import read_run
    from wblab.report.lanestext import blocks_for, lanes_lines

    for line in lanes_lines([lanes_of(read_run(directory))], blocks_for(sys.stderr.encoding)):
        print(line, file=sys.stderr)


def _lines(directory: Path, times_size: int) -> list[str]:
    from wblab.analysis.runs.captures import captures
    from wblab.analysis.runs.pauses import DEFAULT_BOUND_NS
    from wblab.analysis.runs.run import read_run
    from wblab.lab.specfile import LiveSpec
    from wblab.report.pausetext import shown_run
    from wblab.report.quantities import duration
    from wblab.report.whyanswer import sentence
    from wblab.report.whycause import groups

    run = read_run(directory)
    name = shown_run(run)
    if not captures(run) and not any((item.pauses_ns > DEFAULT_BOUND_NS).any() for item in run.loads):
        return [f"no pause over {duration(DEFAULT_BOUND_NS)}", f"next: wblab timeline {name}"]
    if isinstance(run.spec, LiveSpec) and not captures(run):
        return [f"next: wblab why --pauses {name}; to know why, repeat it as root with --capture-pauses 300ms"]
    found = _explained(run, times_size)
    answer = [sentence(groups(found)[0], run.kinds)] if found else []
    return [*answer, f"{'more' if answer else 'next'}: wblab why {name}"]


def _explained(run: "Run", times_size: int) -> "list[Explanation]":
    """Return the explained pauses of a guest's run; of a live run only the longest, from its capture, if it has one."""
    from wblab.analysis.runs.captures import captures
    from wblab.analysis.runs.pauses import DEFAULT_BOUND_NS
    from wblab.analysis.why.explain import explain
    from wblab.analysis.why.explanations import explanations
    from wblab.analysis.why.recorded import read_recorded
    from wblab.lab.specfile import LiveSpec
    from wblab.machine.block import available_bytes

    if not isinstance(run.spec, LiveSpec):
        return [item.explanation for item in explanations(run)]
    capture = max(captures(run), key=lambda item: item.pause.duration_ns, default=None)
    if capture is None or times_size * capture.path.stat().st_size > available_bytes():
        return []
    bound_ns = min(DEFAULT_BOUND_NS, capture.pause.duration_ns - 1)
    found = explain(run, read_recorded(run, capture), capture.load, bound_ns)
    return [max(found, key=lambda item: item.pause_ns)] if found else []
