"""What `wblab why --prove` prints: verdicts on suspects, and points of no return."""

import json
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wblab.lab.printable import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wblab.core.spec import Spec
    from wblab.data.run import Run
    from wblab.proof.cut import Make, Trial
    from wblab.proof.returning import Return
    from wblab.why.explain import Explanation

_TOLERANCE_NS = 100_000_000


def maker(results: Path, kernel: str) -> "Make":
    """Return what makes the run of a spec, with progress; kernel: as --kernel says it."""
    from dataclasses import replace

    from wblab.commands.run import run_shown
    from wblab.data.run import read_run
    from wblab.host.request import ready
    from wblab.kernels import built_kernels, full_name

    shelf = built_kernels(kernel)

    def make(spec: "Spec") -> "Run":
        wanted = replace(spec, kernel=full_name(kernel)) if kernel else spec
        return read_run(run_shown(ready(wanted, shelf), results).directory)

    return make


def prove(trial: "Trial", named: "Sequence[str]", *, as_json: bool) -> None:
    """Print what becomes of a pause without each suspect; of those without whom it is gone, until when that is so."""
    from wblab.proof.cut import begin_ns, suspects
    from wblab.proof.returning import point_of_no_return

    found: list[Return] = []
    pause, say = trial.pause, _silent if as_json else _say
    say([f"pause {pause.number}: {pause.load} was stopped for {_s(pause.pause_ns)} from {_s(pause.start_ns)} on"])
    for suspect in named or suspects(trial.run, pause):
        first = trial.without(suspect, begin_ns(trial.run, suspect))
        say([f"without {suspect}: {first.verdict}, {_s(first.pause_ns)}"])
        last_ns = max(pause.start_ns, first.halted_ns + 1)
        found.append(point_of_no_return(partial(trial.without, suspect), first, last_ns, _TOLERANCE_NS))
        say(_lines(pause, found[-1]) if first.verdict == "gone" else [])
    if as_json:
        print(json.dumps(_table(pause, found), indent=2))


def _say(lines: list[str]) -> None:
    for line in lines:
        print(printable(line), flush=True)


def _silent(lines: list[str]) -> None:
    """Say nothing, as what is found is printed at the end."""


def _lines(pause: "Explanation", found: "Return") -> list[str]:
    lines = []
    if found.saved and found.lost:
        before = _s(pause.start_ns - found.saved.halted_ns)
        lines = [
            f"  point of no return: stopped at {_s(found.saved.halted_ns)}, {before} before the pause, "
            f"{found.saved.suspect} spares {pause.load}; stopped at {_s(found.lost.halted_ns)} it does not"
        ]
    elif found.saved:
        lines = [f"  stopped as the pause begins, {found.saved.suspect} still spares {pause.load}"]
    lines.append("  stopped at   pause")
    return [*lines, *(f"  {_s(item.halted_ns):>10}   {_s(item.pause_ns)}  {item.verdict}" for item in found.curve)]


def _table(pause: "Explanation", found: "list[Return]") -> dict[str, Any]:
    named = {"load": pause.load, "number": pause.number, "start_ns": pause.start_ns, "pause_ns": pause.pause_ns}
    return {"pause": named, "suspects": [asdict(item) for item in found]}


def _s(time_ns: int) -> str:
    return f"{time_ns / 1e9:.3f} s"
