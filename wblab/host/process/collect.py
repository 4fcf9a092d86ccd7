"""The one place where the host takes files over from a guest.

Names are the guest's, and so nothing is opened by a path with one of them in it: only in a directory that is held, only
regular files, and on our side only files that do not exist yet.
"""

import os
import re
import shutil
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from wblab.core.check import NAME
from wblab.core.errors import WblabError
from wblab.core.layout import LEFT
from wblab.core.loads import Load
from wblab.core.rundir import DISKS, EXTENTS, TRACE, TRACE_LOG, agent_log, load_record, load_times, served_requests
from wblab.core.spec import Spec
from wblab.host.guestlab import HIDDEN
from wblab.host.sandbox import DISTRIBUTION
from wblab.lab.held import descriptor_in
from wblab.lab.printable import printable

# Why a guest's run failed by a program of the spec: which file it lacked, and what it printed.

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


# What a guest leaves: its loads' boundaries, its agents' logs, its servers' requests, what it says of its disks and of
# where files lie, the trace; and below LEFT what its commands want kept.
_NAME = NAME.pattern
_EXPECTED = re.compile(
    "|".join(
        [
            *(re.escape(of("@")).replace("@", _NAME) for of in (load_times, load_record, agent_log, served_requests)),
            rf"{re.escape(TRACE)}(\.cpu\d+)?",
            re.escape(TRACE_LOG),
            re.escape(DISKS),
            re.escape(EXTENTS),
        ]
    )
)
_PLAIN = re.compile(r"[A-Za-z0-9._+=@:-]{1,128}")
_DEEPEST = 8
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FROM = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_TO = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def is_expected(name: str) -> bool:
    """Whether a run consists of files with this name, among others."""
    return _EXPECTED.fullmatch(name) is not None


def take_over(shared: Path, run: Path) -> None:
    """Copy what a guest that has ended left in `shared` to its run directory. What a run does not consist of stays.

    Raises WblabError for a file that is no regular one, or has another name too; OSError where it cannot be kept.
    """
    with _held(shared) as source, _held(run) as target:
        for name in sorted(filter(is_expected, os.listdir(source))):
            _copy(name, source, target)
        if LEFT in os.listdir(source):
            with _held(LEFT, source) as left:
                if os.listdir(left):
                    _copy_directory(LEFT, source, target, _DEEPEST)


def _copy_directory(name: str, source: int, target: int, room: int) -> None:
    os.mkdir(name, dir_fd=target)
    with _held(name, source) as from_here, _held(name, target) as to_here:
        for item in sorted(os.listdir(from_here)):
            if not _PLAIN.fullmatch(item):
                raise WblabError(f"the guest left {item!r}: use only letters, digits and ._+=@:- in file names")
            if not stat.S_ISDIR(os.lstat(item, dir_fd=from_here).st_mode):
                _copy(item, from_here, to_here)
            elif room:
                _copy_directory(item, from_here, to_here, room - 1)
            else:
                raise WblabError(f"the guest left directories more than {_DEEPEST} deep")


def _copy(name: str, source: int, target: int) -> None:
    try:
        descriptor = os.open(name, _FROM, dir_fd=source)
    except OSError as error:  # a link: ELOOP; a socket: ENXIO
        raise WblabError(f"the guest left {name!r}, which is not a regular file: {error.strerror}") from None
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode) or status.st_nlink != 1:
        os.close(descriptor)
        raise WblabError(f"the guest left {name!r}, which is not a regular file with one name")
    with open(descriptor, "rb") as left, open(os.open(name, _TO, 0o666, dir_fd=target), "wb") as kept:
        shutil.copyfileobj(left, kept, 1 << 20)


@contextmanager
def _held(directory: Path | str, within: int | None = None) -> Iterator[int]:
    is_held = isinstance(directory, Path) and descriptor_in(directory) is not None  # then its path is a link of /proc
    descriptor = os.open(directory, _DIRECTORY & ~os.O_NOFOLLOW if is_held else _DIRECTORY, dir_fd=within)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
