"""The distribution's packages that the lab needs: which are missing, and how they are installed.

`python3 -m wblab.lab.packages` installs what is missing, as root on Debian and its relatives; else it says how. With
`--tests` what only the tests need as well: without that they run too, and say at their end what they left out.
"""

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from wblab.lab.distributions import DEBIAN, Distribution, this_distribution
from wblab.lab.places import INSTALLED
from wblab.lab.progress import step

# Programs of the distribution, and where they are.


def tool_path(name: str) -> str | None:
    """Return where a program is, also in the system directories that an ordinary user's PATH leaves out.

    Of several paths to one directory (/bin, /usr/bin) always the same: the guest's memory holds this one.
    """
    found = shutil.which(name, path=os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"]))
    return found and os.path.join(os.path.realpath(os.path.dirname(found)), os.path.basename(found))


# Program -> Debian package. What the kernel build calls, and what runs call.
_OF_BUILDS = {
    "gcc": "gcc",
    "ld": "binutils",
    "make": "make",
    "flex": "flex",
    "bison": "bison",
    "bc": "bc",
    "patch": "patch",
    "tar": "tar",
    "xz": "xz-utils",
}
_OF_RUNS = {
    "mke2fs": "e2fsprogs",
    "trace-cmd": "trace-cmd",
}
PROGRAMS = _OF_BUILDS | _OF_RUNS
# Program -> Debian package, of programs that only some runs call.
OPTIONAL_PROGRAMS = {
    "mkfs.xfs": "xfsprogs",
    "mkfs.btrfs": "btrfs-progs",
    "mkfs.f2fs": "f2fs-tools",
    "mkfs.vfat": "dosfstools",
    "mkfs.exfat": "exfatprogs",
    "qemu-system-x86_64": "qemu-system-x86",
}
HEADERS = {"stdio.h": "libc6-dev", "linux/types.h": "linux-libc-dev"}

# What the tests call besides.
BROWSERS = ("chromium", "chromium-browser", "chromium-headless-shell", "google-chrome", "google-chrome-stable")
TEST_PROGRAMS = {
    "git": "git",
    "openssl": "openssl",
    "pkg-config": "pkg-config",
    "pkill": "procps",
    "strace": "strace",
    "mount": "mount",
}
TEST_HEADERS = {
    "trace-cmd/trace-cmd.h": "libtracecmd-dev",
    "tracefs/tracefs.h": "libtracefs-dev",
    "traceevent/event-parse.h": "libtraceevent-dev",
}
_ENVIRONMENT = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}


@dataclass(frozen=True)
class Installed:
    """What is installed here: where a program is, whether Python has a module, where C's headers are, and whose it is.

    distribution: None if it is not a known one.
    """

    program: Callable[[str], str | None] = tool_path
    module: Callable[[str], object] = find_spec
    headers: Path = Path("/usr/include")
    distribution: Distribution | None = field(default_factory=this_distribution)


def missing_packages(machine: Installed | None = None) -> list[str]:
    """Return the packages to install for the lab, by Debian's names, in a stable order. machine: this one if None."""
    machine = machine or Installed()
    missing = _missing(PROGRAMS, HEADERS, machine)
    # `make` makes .venv
    if not INSTALLED and (machine.module("ensurepip") is None or machine.module("venv") is None):
        missing.append("python3-venv")
    return missing


def only_build(packages: list[str]) -> bool:
    """Return whether packages are needed only to build a kernel, and so not where one was added."""
    return set(packages) <= {*_OF_BUILDS.values(), *HEADERS.values()}


def missing_test_packages(machine: Installed | None = None) -> list[str]:
    """Return the packages to install for the tests besides, by Debian's names, in a stable order."""
    machine = machine or Installed()
    missing = _missing(OPTIONAL_PROGRAMS | TEST_PROGRAMS, TEST_HEADERS, machine)
    if not any(map(machine.program, BROWSERS)):
        missing.append("chromium")
    here = machine.distribution
    return [package for package in missing if here is None or here.packages([package])]


def _missing(programs: dict[str, str], headers: dict[str, str], machine: Installed) -> list[str]:
    missing = [package for program, package in programs.items() if machine.program(program) is None]
    if machine.distribution and not machine.distribution.headers:
        return missing
    return missing + [package for header, package in headers.items() if not (machine.headers / header).exists()]


def own_names(packages: list[str]) -> list[str]:
    """Return what this distribution calls packages, as far as it is known."""
    here = this_distribution()
    return here.packages(packages) if here else packages


def advice(packages: list[str]) -> str:
    """Return in words how packages are installed here: the one command to copy."""
    return advice_on(this_distribution(), packages)


def advice_on(here: Distribution | None, packages: list[str], user: int | None = None) -> str:
    """Return how a user installs packages on a distribution; see `Distribution.command`. here: None if unknown."""
    if here is None:
        return f"install your distribution's packages for Debian's {' '.join(packages)}"
    return f"run '{shlex.join(here.command(packages, user))}'"


def main() -> int:
    """Install what is missing where that can be done; else print the one command that does it."""
    needed = missing_packages()
    more = missing_test_packages() if "--tests" in sys.argv[1:] else []
    here = this_distribution()
    can_install = not os.geteuid() and here is DEBIAN and shutil.which("apt-get") is not None
    return install(needed, more, _run if can_install else None, advice([*needed, *more]))


def install(needed: list[str], more: list[str], run: Callable[[list[str]], int] | None, how: str) -> int:
    """Install the packages of runs, and those of tests; return the exit code.

    run: runs a command of the distribution, and returns its exit code; None if only the user can. how: what to say
    then.
    """
    if not needed and not more:
        return 0
    if run is None:
        if needed:
            print(f"wblab: missing packages: {how} first", file=sys.stderr)
            return 2
        print(f"wblab: some tests will be skipped; to run all, {how} first", file=sys.stderr)
        return 0
    run(["apt-get", "update", "--quiet=2"])
    code = run(DEBIAN.command(needed)) if needed else 0
    for package in more:  # each alone: one that the distribution does not have keeps no other away
        run(DEBIAN.command([package]))
    return code


def _run(command: list[str]) -> int:
    with step(f"packages: {' '.join(command)}"):
        return subprocess.run(command, env=_ENVIRONMENT, stdout=subprocess.DEVNULL, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
