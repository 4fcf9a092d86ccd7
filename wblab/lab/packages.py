"""The distribution's packages that the lab needs: which are missing, and how they are installed.

`python3 -m wblab.lab.packages` installs what is missing, as root on Debian and its relatives; else it says how. With
`--tests` what only the tests need as well: without that they run too, and say at their end what they left out.
"""

import os
import shlex
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from wblab.lab.distributions import DEBIAN, this_distribution
from wblab.lab.places import INSTALLED
from wblab.lab.progress import step
from wblab.lab.tools import tool_path

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
_INCLUDE = Path("/usr/include")
_ENVIRONMENT = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}


def missing_packages() -> list[str]:
    """Return the packages to install for the lab, by Debian's names, in a stable order."""
    missing = _missing(PROGRAMS, HEADERS)
    if not INSTALLED and (find_spec("ensurepip") is None or find_spec("venv") is None):  # `make` makes .venv
        missing.append("python3-venv")
    return missing


def only_build(packages: list[str]) -> bool:
    """Return whether packages are needed only to build a kernel, and so not where one was added."""
    return set(packages) <= {*_OF_BUILDS.values(), *HEADERS.values()}


def missing_test_packages() -> list[str]:
    """Return the packages to install for the tests besides, by Debian's names, in a stable order."""
    missing = _missing(OPTIONAL_PROGRAMS | TEST_PROGRAMS, TEST_HEADERS)
    if not any(map(tool_path, BROWSERS)):
        missing.append("chromium")
    here = this_distribution()
    return [package for package in missing if here is None or here.packages([package])]


def _missing(programs: dict[str, str], headers: dict[str, str]) -> list[str]:
    missing = [package for program, package in programs.items() if tool_path(program) is None]
    here = this_distribution()
    if here and not here.headers:
        return missing
    return missing + [package for header, package in headers.items() if not (_INCLUDE / header).exists()]


def own_names(packages: list[str]) -> list[str]:
    """Return what this distribution calls packages, as far as it is known."""
    here = this_distribution()
    return here.packages(packages) if here else packages


def advice(packages: list[str]) -> str:
    """Return in words how packages are installed here: the one command to copy."""
    here = this_distribution()
    if here is None:
        return f"install your distribution's packages for Debian's {' '.join(packages)}"
    return f"run '{shlex.join(here.command(packages))}'"


def main() -> int:
    """Install what is missing where that can be done; else print the one command that does it."""
    needed = missing_packages()
    more = missing_test_packages() if "--tests" in sys.argv[1:] else []
    if not needed and not more:
        return 0
    if os.geteuid() or this_distribution() is not DEBIAN or shutil.which("apt-get") is None:
        how = advice([*needed, *more])
        if needed:
            print(f"wblab: missing packages: {how} first", file=sys.stderr)
            return 2
        print(f"wblab: some tests will be skipped; to run all, {how} first", file=sys.stderr)
        return 0
    with step("packages: apt-get update"):
        subprocess.run(["apt-get", "update", "--quiet=2"], env=_ENVIRONMENT, check=False)
    code = _install(needed) if needed else 0
    for package in more:  # each alone: one that the distribution does not have keeps no other away
        _install([package])
    return code


def _install(packages: list[str]) -> int:
    command = DEBIAN.command(packages)
    with step(f"packages: {' '.join(command)}"):
        return subprocess.run(command, env=_ENVIRONMENT, stdout=subprocess.DEVNULL, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
