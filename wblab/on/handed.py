"""What a user's program needs, found on the host: its files, its environment, and what it may read.

A guest sees the host's files at their own paths, but only those that it is granted, and has /tmp and the like of its
own. The current directory goes with it as an archive, which the guest unpacks onto its disk.
"""

import os
import shutil
import stat
import subprocess
import sys
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import file_digest, sha256
from pathlib import Path

from wblab.core.errors import InputError
from wblab.core.units import Bytes, format_bytes
from wblab.host.guestlab import HIDDEN
from wblab.host.installation import check_no_home, is_distributed, needed
from wblab.on.order import ORDER, Order

# Variables that decide what a program is and how it prints. All others stay on the host: they may hold secrets.
_PASSED = ("PATH", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TERM", "COLORTERM", "NO_COLOR", "CLICOLOR")
_PASSED_FAMILIES = ("LC_", "VIRTUAL_ENV", "PYTHON", "CONDA_PREFIX", "GOROOT", "JAVA_HOME", "NODE_PATH", "FORCE_COLOR")
_HOME = "/tmp/home"
_MARK = "pyvenv.cfg"  # of a virtual environment
# Of /etc, what any user may read and programs ask for; nothing in there is anybody's secret.
PUBLIC = tuple(
    f"/etc/{name}"
    for name in (
        *(
            "hosts",
            "hosts.allow",
            "hosts.deny",
            "hostname",
            "host.conf",
            "resolv.conf",
            "services",
            "protocols",
            "networks",
            "gai.conf",
            "rpc",
        ),
        *(
            "os-release",
            "debian_version",
            "lsb-release",
            "mime.types",
            "gitconfig",
            "inputrc",
            "profile",
            "environment",
        ),
        *("bash.bashrc", "login.defs", "shells", "alternatives", "ssl/openssl.cnf", "ssl/certs", "ca-certificates"),
        *("fonts", "terminfo", "python3", "python3.11", "python3.12", "python3.13", "java-17-openjdk"),
        *("java-21-openjdk", "java-25-openjdk", "timezone", "localtime", "locale.alias", "ld.so.conf", "ld.so.conf.d"),
        *("postgresql-common", "magic", "papersize", "perl"),
    )
)
_MOST_STDIN = 256 << 20
_OWN = (*HIDDEN, "/var/tmp")  # what inside.py mounts filesystems over, too


@dataclass(frozen=True)
class Tree:
    """The files of a directory that go with a program. linked: directories that the guest reads on the host instead."""

    directory: Path
    names: tuple[str, ...]
    linked: tuple[str, ...]
    size: Bytes


def tree_of(directory: Path, *, tracked: bool, prefix: Path | None) -> Tree:
    """Return what of a directory goes with a program. Raises InputError.

    tracked: only what git tracks. prefix: a virtual environment that, within the directory, is read on the host.
    """
    linked: tuple[str, ...] = ()
    if prefix and prefix.is_relative_to(directory) and prefix != directory and not is_hidden(prefix):
        linked = (str(prefix.relative_to(directory)),)
    names = tuple(sorted(_tracked(directory) if tracked else _walked(directory, set(linked))))
    size = sum(os.lstat(directory / name).st_size for name in names)
    return Tree(directory, names, linked, Bytes(size))


def is_hidden(path: Path) -> str:
    """Return which directory above a path guests have of their own, in the place of the host's; "" for none."""
    return next((own for own in _OWN if path.is_relative_to(own)), "")


def _walked(directory: Path, without: set[str]) -> Iterator[str]:
    for folder, directories, files in os.walk(directory):
        inside = os.path.relpath(folder, directory)
        of = {name: os.path.normpath(f"{inside}/{name}") for name in (*directories, *files)}
        directories[:] = [name for name in directories if of[name] not in without]
        for name in (*directories, *files):
            mode = os.lstat(os.path.join(folder, name)).st_mode
            if stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode):  # no sockets, pipes, devices
                yield of[name]


def _tracked(directory: Path) -> Iterator[str]:
    done = subprocess.run(["git", "-C", str(directory), "ls-files", "-z"], capture_output=True, text=True, check=False)
    if done.returncode:
        raise InputError(f"--tracked: {directory} is in no git repository: leave it out")
    for name in filter(None, done.stdout.split("\0")):
        if os.path.lexists(directory / name):
            yield name


def hand_over(order: Order, tree: Tree, stdin: bytes | None, at: Path) -> Order:
    """Write all that the guest gets into a directory. Return the order with the names of its files. Raises InputError.

    A file is called after its content, as a record has the names.
    """
    if tree.names:
        archive = at / "tree"
        try:
            with tarfile.open(archive, "w", format=tarfile.PAX_FORMAT) as file:
                for name in tree.names:
                    file.add(tree.directory / name, name, recursive=False, filter=_anonymous)
        except OSError as error:
            raise InputError(
                f"cannot read {error.filename}: {error.strerror}: --tracked leaves out what git does"
            ) from None
        order = replace(order, tree=_named(archive, "tar"))
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


def environment(own: Mapping[str, str], more: Sequence[str]) -> dict[str, str]:
    """Return the variables of a guest's program. more: NAME=VALUE, or NAME of a variable to pass. Raises InputError."""
    found = {name: value for name, value in own.items() if name in _PASSED or name.startswith(_PASSED_FAMILIES)}
    found |= {"HOME": _HOME, "TMPDIR": "/tmp"}
    for text in more:
        name, equals, value = text.partition("=")
        if not equals and name not in own:
            raise InputError(f"--env {text}: there is no such variable here: give {name}=VALUE")
        found[name] = value if equals else own[name]
    return found


def prefix_of(argv: Sequence[str], variables: Mapping[str, str]) -> Path | None:
    """Return the virtual environment of a command: that of its interpreter, else the one that is active."""
    program = shutil.which(argv[0], path=variables.get("PATH"))
    for path in filter(None, (program, program and _interpreter(program))):
        above = Path(os.path.abspath(path)).parent.parent
        if (above / _MARK).is_file():
            return above
    active = variables.get("VIRTUAL_ENV", "")
    return Path(active) if active and (Path(active) / _MARK).is_file() else None


def unshimmed(argv: Sequence[str], variables: Mapping[str, str]) -> dict[str, str]:
    """Return the variables with which a command that pyenv stands in for is found itself: its directory comes first."""
    program = shutil.which(argv[0], path=variables.get("PATH"))
    root = Path(program).parent.parent if program and Path(program).parent.name == "shims" else None
    pyenv = root / "bin" / "pyenv" if root else None
    if not program or pyenv is None or not os.access(pyenv, os.X_OK):
        return dict(variables)
    done = subprocess.run([pyenv, "which", Path(program).name], capture_output=True, text=True, check=False)
    found = done.stdout.strip()
    if done.returncode or not os.path.isabs(found):
        return dict(variables)
    return {**variables, "PATH": f"{Path(found).parent}:{variables.get('PATH', '')}"}


def _interpreter(path: str) -> str:
    """Return the interpreter that a script names, or an empty text."""
    try:
        with open(path, "rb") as file:
            line = file.readline(4096)
    except OSError:
        return ""
    words = os.fsdecode(line[2:]).split() if line.startswith(b"#!") else []
    return words[0] if words else ""


def reads(argv: Sequence[str], variables: Mapping[str, str], prefix: Path | None, directory: Path) -> list[str]:
    """Return what a command may read of the host beside the distribution. Raises InputError where a guest cannot."""
    found = [path for path in PUBLIC if os.path.exists(path)]
    program = shutil.which(argv[0], path=variables.get("PATH"))
    if program and not Path(os.path.abspath(program)).is_relative_to(directory):
        real = os.path.realpath(program)
        if not is_distributed(real) and (own := is_hidden(Path(real))):
            raise InputError(f"a guest has a {own} of its own: put {program} into another directory")
        found += [*needed(real), os.path.abspath(program)]
    if prefix and not (prefix.is_relative_to(directory) and is_hidden(prefix)):
        if own := is_hidden(prefix):
            raise InputError(f"a guest has a {own} of its own: put the environment {prefix} elsewhere")
        check_no_home(str(prefix))
        found.append(str(prefix))
        for python in sorted(prefix.glob("bin/python*")):
            found += needed(str(python))
    return list(dict.fromkeys(found))


def standard_input() -> bytes | None:
    """Return what standard input has: None for a terminal or nothing. Raises InputError for too much."""
    try:
        mode = os.fstat(0).st_mode
    except OSError:
        return None
    if os.isatty(0) or not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode)):
        return None
    content = sys.stdin.buffer.read(_MOST_STDIN + 1)
    if len(content) > _MOST_STDIN:
        raise InputError(f"standard input has more than {format_bytes(Bytes(_MOST_STDIN))}: give the program a file")
    return content or None
