"""The files that a program needs of the host, one by one: a directory of programs may be in somebody's home.

A file is granted as a file. Directories are a Python's own, with its modules, and those of trace-cmd's plugins.
"""

import json
import os
import pwd
import re
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from wblab.core.errors import InputError, WblabError
from wblab.host.environment import ENVIRONMENT, LIBRARIES
from wblab.host.guestlab import GuestLab
from wblab.host.sandbox import DISTRIBUTION, Sandbox
from wblab.host.sandbox.sandbox import loader
from wblab.kernels import facts

# The Python of the guest: which one it is, as a record must say it for runs on another machine to be compared.

# The executable, and the libraries that the guest's program maps (proc(5), /proc/PID/maps).
_IDENTIFY = """
import sys
sys.path.insert(0, sys.argv[1])
import json, wblab.guest.init
mapped = {line.split(None, 5)[5].strip() for line in open("/proc/self/maps") if "/" in line}
print(json.dumps([sys.version.split()[0], sorted(path for path in mapped if ".so" in path)]))
"""


# What else decides which libraries these are: where the loader looks for them, see ld.so(8).
_PYTHON_LOADERS = (*LIBRARIES, "/etc/ld.so.cache", "/etc/ld.so.preload")


def describe_python(interpreter: str, program: Path) -> dict[str, Any]:
    """Return what the guest's Python is: path, version, and digests of it and of all libraries that it maps, by name.

    Another one takes another amount of memory, and so gives other results. To find it out takes as long as to start it,
    so that it is kept for as long as no file changes that decides it. Raises WblabError.
    """
    command = [interpreter, "-S", "-s", "-P", "-B", "-c", _IDENTIFY, str(program)]
    loaders = [path for path in _PYTHON_LOADERS if os.path.exists(path)]

    def find() -> tuple[dict[str, Any], list[str | Path]]:
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=ENVIRONMENT)
        if done.returncode:
            said = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
            raise WblabError(f"{interpreter} cannot run the guest's program: {said}")
        version, libraries = json.loads(done.stdout)
        description = {
            "python": interpreter,
            "python_version": version,
            "python_sha256": facts.sha256(interpreter),
            "libraries": {Path(path).name: facts.sha256(path) for path in libraries},
        }
        return description, [interpreter, program, *libraries, *loaders]

    return dict(facts.fact(json.dumps([command, ENVIRONMENT, loaders]), find))


_PYTHON = re.compile(r"python[0-9.]*")
# Where its modules are: an archive, a directory, and one of those that are libraries.
_ASK_PYTHON = "import json, sys; print(json.dumps(sys.path))"
_OF_LOADER = re.compile(r"(?:^|=> )(/.*) \(0x[0-9a-f]+\)$")  # a line of ld.so(8) --list
_PLUGINS = ("lib*/{}/plugins", "lib/*-linux-gnu/{}/plugins")
# Programs find libraries with the environment of the guest's init, and commands without it.
_ENVIRONMENTS: tuple[Mapping[str, str], ...] = (ENVIRONMENT, {})
_LOADERS = (*LIBRARIES, "/etc/ld.so.cache", "/etc/ld.so.preload")  # what else decides which libraries these are


def needed(program: str) -> list[str]:
    """Return the files and directories that a program needs, itself among them, beside those of the distribution.

    Raises WblabError for a Python that cannot be run, and InputError where a directory holds somebody's home.
    """
    path = os.path.realpath(program)
    if is_distributed(path) or not os.path.exists(path):
        return [path]
    about = json.dumps(["needs", path, _ENVIRONMENTS])
    found = [str(needs) for needs in facts.fact(about, lambda: _find(path))]
    for directory in filter(os.path.isdir, found):
        check_no_home(directory)
    return found


def is_distributed(path: str) -> bool:
    """Whether a path without links lies in a directory of the distribution."""
    return any(Path(path).is_relative_to(directory) for directory in DISTRIBUTION)


def check_no_home(directory: str, accounts: Iterable[pwd.struct_passwd] | None = None) -> None:
    """Raise InputError for a directory that is somebody's home, or holds one.

    accounts: by default, all of this machine.
    """
    real = Path(os.path.realpath(directory))
    known = pwd.getpwall() if accounts is None else accounts
    homes = {os.path.expanduser("~"), *(account.pw_dir for account in known)}
    if real == Path("/") or any(Path(os.path.realpath(home)).is_relative_to(real) for home in homes if home):
        raise InputError(
            f"a guest would need to read all of {directory}, which contains a home directory: "
            "install Python and wblab in directories of their own"
        )


def _find(path: str) -> tuple[Any, Iterable[Path | str]]:
    found = [path]
    modules = _modules(path) if _PYTHON.fullmatch(Path(path).name) else []
    found += modules
    linked = [path, *chain.from_iterable(map(str, Path(place).glob("*.so")) for place in modules)]
    if loads := loader(path):
        found += sorted({library for file in linked for library in _libraries(loads, file)})
    # Libraries of an environment such as conda's, which packages use: beside the directory of the modules.
    beside = {Path(place).parent for place in modules if Path(place, "os.py").exists()}
    found += sorted(str(file) for place in beside for file in place.glob("*.so*") if file.is_file())
    if Path(path).name == "trace-cmd":
        found += _plugins(Path(path).parent.parent)
    needs = [each for each in dict.fromkeys(found) if each == path or not is_distributed(os.path.realpath(each))]
    return needs, [*needs, *beside, *(each for each in _LOADERS if os.path.exists(each))]


def _modules(python: str) -> list[str]:
    """Return where a Python has its own modules, of what is there."""
    done = subprocess.run(
        [python, "-I", "-S", "-c", _ASK_PYTHON], capture_output=True, text=True, check=False, env=ENVIRONMENT
    )
    if done.returncode:
        said = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise WblabError(f"cannot run {python}: {said}")
    return [place for place in json.loads(done.stdout) if os.path.isabs(place) and os.path.exists(place)]


def _libraries(loads: str, file: str) -> list[str]:
    """Return the libraries of a program, or of a library, where this loader finds them, itself among them."""
    found = []
    for environment in _ENVIRONMENTS:
        done = subprocess.run([loads, "--list", file], capture_output=True, check=False, env=dict(environment))
        lines = os.fsdecode(done.stdout).splitlines()
        found += [match[1] for line in lines if (match := _OF_LOADER.search(line.strip()))]
    return list(filter(os.path.isfile, found))


def _plugins(prefix: Path) -> list[str]:
    patterns = [pattern.format(name) for pattern in _PLUGINS for name in ("traceevent", "trace-cmd")]
    return sorted(str(found) for pattern in patterns for found in prefix.glob(pattern))


# What the guest of one run may do with the host: read programs, keep its results, and no more.

# What programs besides the lab's own look at: who they are, and what time zone this is.
_FOR_PROGRAMS = ("/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/etc/localtime", "/etc/ld.so.preload")


def guest_sandbox(
    programs: Sequence[str], more: Sequence[str], lab: GuestLab | None, *, by_ptrace: bool, largest_file_bytes: int
) -> Sandbox:
    """Return the sandbox of a guest's kernel. What it is not granted the guest cannot read, whoever it is in there.

    programs: those that the guest starts. more: paths that the user grants besides. lab: for guests in which other
    programs run. by_ptrace: for kernels that lack the seccomp mode. largest_file_bytes: memory, disk or trace.
    Raises WblabError for a Python that cannot be run, InputError where the lab or Python lie around somebody's home.
    """
    reads = {*DISTRIBUTION, *chain.from_iterable(map(needed, programs)), *more}
    if lab:
        reads |= {*_FOR_PROGRAMS, *needed(str(lab.python)), str(lab.modules)}
        if lab.has_packages:
            check_no_home(str(lab.packages))
            reads.add(str(lab.packages))
    return Sandbox(
        reads=sorted(reads),
        largest_file_bytes=largest_file_bytes,
        calls="kernel with ptrace" if by_ptrace else "kernel",
    )
