"""The directory that goes with a user's program, as an archive, and beside it the order that says what to do with it.

What lies in the directory may be anybody's: names are bytes, links are archived as links and never followed, and what
is neither file nor directory nor link stays here.
"""

import os
import stat
import subprocess
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from hashlib import file_digest, sha256
from pathlib import Path

from wblab.core import layout
from wblab.core.errors import InputError
from wblab.core.units import Bytes, format_bytes
from wblab.host.guestlab import HIDDEN
from wblab.lab.formats import CONSOLE, EXPERIMENT
from wblab.lab.printable import printable
from wblab.on.order import ORDER, Order

# What a guest mounts filesystems over: the host's files below are not to be seen there.
_OWN = (*HIDDEN, "/var/tmp")
# What a guest needs where it is: nothing is mounted over these.
_FIXED = ("/dev", "/proc", "/run", "/sys", "/usr", "/var/tmp/home", str(layout.DISK), str(layout.ROOM))
_NO_FILES = ("/dev", "/proc", "/sys")  # what lies below is made by the kernel, except for:
_FILES = "/dev/shm"
_SHOWN = 400  # letters of a path
_OF_RUNS = {EXPERIMENT, CONSOLE}
_BLOCK_BYTES = 4096  # what the smallest file takes of a disk, its inode included


@dataclass(frozen=True)
class Tree:
    """The files of a directory that go with a program. linked: directories that the guest reads on the host instead."""

    directory: Path
    names: tuple[str, ...]
    linked: tuple[str, ...]
    size: Bytes


def tree_of(directory: Path, *, tracked: bool, prefix: Path | None, most: Bytes, results: Path) -> Tree:
    """Return what of a directory goes with a program. Raises InputError.

    tracked: only what git tracks. prefix: a virtual environment that, within the directory, is read on the host. most:
    it may take of the disk. results: where the lab's runs go, which stay here, else a second run were another one.
    """
    check_place(directory)
    linked: tuple[str, ...] = ()
    if prefix and prefix.is_relative_to(directory) and prefix != directory and not is_hidden(prefix):
        linked = (str(prefix.relative_to(directory)),)
    names, size = [], 0
    ours = Path(os.path.realpath(results))
    without = {*linked, *([str(ours.relative_to(directory))] if ours.is_relative_to(directory) else [])}
    for name in _tracked(directory) if tracked else _walked(directory, without):
        try:
            status = os.lstat(directory / name)
        except FileNotFoundError:  # somebody removes it, or git tracks what is not there
            continue
        except OSError as error:  # such as a path that is longer than the system takes
            raise _unreadable(str(directory / name), error) from None
        if not (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode) or stat.S_ISLNK(status.st_mode)):
            continue  # sockets, pipes, devices
        names.append(name)
        size += max(-status.st_size // _BLOCK_BYTES * -_BLOCK_BYTES, _BLOCK_BYTES)
        if size > most:
            raise InputError(
                f"{printable(str(directory))} takes more than {format_bytes(most)} with {len(names)} files, more than "
                "half of the disk: raise --size, or choose what goes with it: --tracked, --dir"
            )
    return Tree(directory, tuple(sorted(names)), linked, Bytes(size))


def check_place(directory: Path) -> None:
    """Raise InputError for a directory in whose place a guest cannot have another one."""
    hides = next((own for own in _FIXED if Path(own).is_relative_to(directory)), "")
    if not hides and not directory.is_relative_to(_FILES):
        hides = next((own for own in _NO_FILES if directory.is_relative_to(own)), "")
    if hides:
        said = f"{directory} would stand in a guest's {hides}: give a directory with the program's files alone"
        raise InputError(f"{said}, as in --dir PATH")


def is_hidden(path: Path) -> str:
    """Return which directory above a path guests have of their own, in the place of the host's; "" for none."""
    return next((own for own in _OWN if path.is_relative_to(own)), "")


def _walked(directory: Path, without: set[str]) -> Iterator[str]:
    for folder, directories, files in os.walk(directory, onerror=_cannot_read):
        if _OF_RUNS.issubset(files):  # a run's directory, that was made with another --exp
            directories.clear()
            continue
        inside = os.path.relpath(folder, directory)
        of = {name: os.path.normpath(f"{inside}/{name}") for name in (*directories, *files)}
        directories[:] = [name for name in directories if of[name] not in without]
        yield from (of[name] for name in (*directories, *files))


def _cannot_read(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError):
        raise _unreadable(str(error.filename), error)


def _unreadable(path: str, error: OSError) -> InputError:
    said, shown = error.strerror or "it changes while it is read", printable(path)
    shown = f"{shown[:_SHOWN]}…" if len(shown) > _SHOWN else shown
    return InputError(f"cannot read {shown}: {said}: --tracked leaves out what git does, or give another --dir")


def _tracked(directory: Path) -> Iterator[str]:
    command = ["git", "-C", str(directory), "ls-files", "-z"]
    try:
        done = subprocess.run(command, capture_output=True, check=False)
    except FileNotFoundError:
        raise InputError("--tracked asks git, which is not there: leave it out, or install git") from None
    if done.returncode:
        raise InputError(f"--tracked: {printable(str(directory))} is in no git repository: leave it out")
    real: dict[str, bool] = {"": True}
    for name in filter(None, os.fsdecode(done.stdout).split("\0")):
        if _is_real(directory, os.path.dirname(name), real):
            yield name


def _is_real(directory: Path, folder: str, known: dict[str, bool]) -> bool:
    """Whether a folder below a directory is reached without a link. What git tracks may be replaced by one."""
    if folder not in known:
        above = _is_real(directory, os.path.dirname(folder), known)
        known[folder] = above and not os.path.islink(directory / folder)
    return known[folder]


def hand_over(order: Order, tree: Tree, stdin: bytes | None, at: Path) -> Order:
    """Write all that the guest gets into a directory. Return the order with the names of its files. Raises InputError.

    A file is called after its content, as a record has the names. The guest's clock begins after the newest file.
    """
    if tree.names:
        archive, newest_s, name = at / "tree", 0, ""
        try:
            with tarfile.open(archive, "w", format=tarfile.PAX_FORMAT) as file:
                for name in tree.names:
                    file.add(tree.directory / name, name, recursive=False, filter=_anonymous)
                newest_s = max(int(item.mtime) for item in file.getmembers())
        except OSError as error:
            raise _unreadable(str(error.filename or tree.directory / name), error) from None
        order = replace(order, tree=_named(archive, "tar"), clock_s=newest_s + 1)
    if stdin:
        (at / "stdin").write_bytes(stdin)
        order = replace(order, stdin=_named(at / "stdin", "stdin"))
    (at / ORDER).write_text(order.text())
    (at / f"order-{sha256(order.text().encode()).hexdigest()[:16]}").touch()
    for path in (at, *at.iterdir()):
        path.chmod(0o755 if path.is_dir() else 0o644)
    return order


def _anonymous(item: tarfile.TarInfo) -> tarfile.TarInfo:
    """Return a member that is the same for every owner. What it is, when it changed, and who may run it stay."""
    item.uid = item.gid = 0
    item.uname = item.gname = ""
    item.mtime = int(item.mtime)
    item.mode |= 0o400
    return item


def _named(path: Path, suffix: str) -> str:
    with path.open("rb") as file:
        digest = file_digest(file, "sha256")
    renamed = path.with_name(f"{digest.hexdigest()[:32]}.{suffix}")
    path.rename(renamed)
    return renamed.name
