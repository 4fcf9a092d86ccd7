"""What a user's program needs, found on the host: its environment, what it may read, and its standard input.

A guest sees the host's files at their own paths, but only those that it is granted, and has /tmp and the like of its
own.
"""

import os
import select
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from wblab.core.errors import InputError
from wblab.core.units import Bytes, format_bytes
from wblab.host.installation import check_no_home, is_distributed, needed
from wblab.on.tree import is_hidden

# Variables that decide what a program is and how it prints. All others stay on the host: they may hold secrets.
_PASSED = ("PATH", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TERM", "COLORTERM", "NO_COLOR", "CLICOLOR")
_PASSED_FAMILIES = ("LC_", "VIRTUAL_ENV", "PYTHON", "CONDA_PREFIX", "GOROOT", "JAVA_HOME", "NODE_PATH", "FORCE_COLOR")
_ON_DISK = "/var/tmp"  # lies on the slow disk; /tmp is in memory
_PATIENCE_S = 5.0  # with standard input, before we say that we wait
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
# What changes with the packages of a distribution: a guest's programs read those, and their directories.
PACKAGES = (
    "/var/lib/dpkg/status",
    "/usr/lib/sysimage/rpm",
    "/var/lib/rpm",
    "/var/lib/pacman/local",
    "/lib/apk/db/installed",
)


def environment(own: Mapping[str, str], more: Sequence[str]) -> dict[str, str]:
    """Return the variables of a guest's program. more: NAME=VALUE, or NAME of a variable to pass. Raises InputError."""
    found = {name: value for name, value in own.items() if name in _PASSED or name.startswith(_PASSED_FAMILIES)}
    found |= {"HOME": f"{_ON_DISK}/home", "TMPDIR": _ON_DISK}
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


def state(path: str) -> str:
    """Return a digest of which files a path holds, of what size, changed when; an empty text if it is not there."""
    if not os.path.lexists(path):
        return ""
    found = sha256()
    for folder, directories, files in os.walk(path) if os.path.isdir(path) else [("", [], [path])]:
        directories.sort()
        for name in sorted(files):
            with suppress(OSError):  # somebody removes it
                status = os.stat(os.path.join(folder, name))
                found.update(
                    f"{folder}/{name} {status.st_size} {status.st_mtime_ns}\n".encode(errors="surrogateescape")
                )
    return found.hexdigest()[:16]


def standard_input(note: Callable[[str], None]) -> bytes | None:
    """Return what standard input has: None for a terminal or nothing. Raises InputError for too much.

    note: is told if that takes long, as for a pipe into which nobody writes.
    """
    try:
        mode = os.fstat(0).st_mode
    except OSError:
        return None
    if os.isatty(0) or not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode)):
        return None
    if not select.select([0], [], [], _PATIENCE_S)[0]:
        note("waiting for standard input, a pipe that is open: Ctrl-C ends that, and </dev/null gives none")
    content = sys.stdin.buffer.read(_MOST_STDIN + 1)
    if len(content) > _MOST_STDIN:
        raise InputError(f"standard input has more than {format_bytes(Bytes(_MOST_STDIN))}: give the program a file")
    return content or None
