"""The distribution's packages that the lab needs: which are missing, and how they are installed.

`python3 -m wblab.host.packages` installs what is missing, as root on apt; else it says how.
"""

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from wblab.host.disk import tool_path

# Program -> Debian package. What the kernel build, the runs and the tests call.
PROGRAMS = {
    "gcc": "gcc",
    "ld": "binutils",
    "make": "make",
    "flex": "flex",
    "bison": "bison",
    "bc": "bc",
    "patch": "patch",
    "tar": "tar",
    "xz": "xz-utils",
    "mke2fs": "e2fsprogs",
    "mkfs.xfs": "xfsprogs",
    "trace-cmd": "trace-cmd",
    "strace": "strace",
}
LIBC_HEADER = Path("/usr/include/stdio.h")


def missing_packages() -> list[str]:
    """Return the Debian packages to install, in a stable order."""
    missing = [package for program, package in PROGRAMS.items() if tool_path(program) is None]
    if not LIBC_HEADER.exists():
        missing.append("libc6-dev")
    if find_spec("ensurepip") is None or find_spec("venv") is None:
        missing.append("python3-venv")
    return missing


def install_command(packages: list[str]) -> list[str]:
    """Return the command that installs packages, for a person to copy or for root to run."""
    sudo = [] if os.geteuid() == 0 else ["sudo"]
    return [*sudo, "apt-get", "install", "--yes", "--no-install-recommends", *packages]


def main() -> int:
    """Install what is missing where that can be done; else print the one command that does it."""
    packages = missing_packages()
    if not packages:
        return 0
    command = install_command(packages)
    if os.geteuid() or shutil.which("apt-get") is None:
        print(f"wblab: missing packages: run '{' '.join(command)}' first", file=sys.stderr)
        return 2
    print(f"+ {' '.join(command)}", file=sys.stderr)
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(["apt-get", "update", "--quiet=2"], env=environment, check=False)
    return subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
