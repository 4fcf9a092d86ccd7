"""Why a guest's run failed by a program of the spec: which file it lacked, and what it printed."""

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from wblab.core.loads import Load
from wblab.core.spec import Spec
from wblab.host.lab import HIDDEN
from wblab.host.sandbox import DISTRIBUTION
from wblab.lab.printable import printable

_FAILED = re.compile(r"the (?:load|command of load) (\S+) (?:failed: .*|ended with .*)", re.DOTALL)
_NOT_STARTED = re.compile(r"the load (\S+) failed: (No such file or directory|Permission denied)")
_KERNELS = re.compile(r"\[ *\d+\.\d{6}\]")  # a line of the kernel
_TRACEBACK = "Traceback (most recent call last):"
_LAST_BYTES, _LONGEST = 16 << 10, 160


def told(reason: str, spec: Spec, console: Path, hidden: Sequence[str] = HIDDEN) -> str:
    """Return the reason of a failed run; of a program of the spec, with the file that it lacked or what it printed.

    hidden: directories of which each guest has its own.
    """
    load = next((spec.load[found[1]] for found in [_FAILED.fullmatch(reason)] if found and found[1] in spec.load), None)
    argv = _argv(load)
    if not argv:
        return reason
    if found := _NOT_STARTED.fullmatch(reason):
        reason = f"the load {found[1]} failed: cannot start {printable(argv[0])!r}: {found[2]}"
    elif said := list(_printed(console))[-1:]:
        reason += f", and printed: {said[0]}"
    return reason + _unseen(argv, hidden)


def _argv(load: Load | None) -> tuple[str, ...]:
    return tuple(getattr(load, "argv", ()))


def _unseen(argv: tuple[str, ...], own: Sequence[str]) -> str:
    """Return a sentence on the first path of a command that the host has and the guest may not see; or nothing.

    A guest has /tmp and the like of its own, and reads of its host only what it is granted.
    """
    for word in argv:
        if not os.path.isabs(word) or not os.path.lexists(word):
            continue
        for hidden in own:
            if Path(word).is_relative_to(hidden):
                return (
                    f". The guest has a {hidden} of its own: put {printable(word)!r} into another directory, and grant "
                    "that with --allow-read"
                )
        if not any(Path(word).is_relative_to(seen) for seen in DISTRIBUTION):
            return f". The guest reads {printable(word)!r} of the host only with --allow-read {printable(word)}"
    return ""


def _printed(console: Path) -> Iterator[str]:
    """Yield the last lines that the guest's programs printed, without those of the kernel and of the lab."""
    with console.open("rb") as file:
        file.seek(max(0, os.fstat(file.fileno()).st_size - _LAST_BYTES))
        lines = file.read(_LAST_BYTES).decode(errors="replace").splitlines()
    begun = next((at for at, line in enumerate(lines) if _KERNELS.match(line)), len(lines))
    for line in lines[begun:]:
        if line == _TRACEBACK:
            return
        if line.strip() and not _KERNELS.match(line):
            yield printable(line.strip()[:_LONGEST])
