"""The lab as a wheel, in a fresh environment outside of any checkout."""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from wblab.host.command import interpreter
from wblab.lab.places import ROOT


@dataclass(frozen=True)
class Installed:
    """An environment with only the wheel. place: for what it writes."""

    environment: Path
    place: Path

    @property
    def packages(self) -> Path:
        (found,) = self.environment.glob("lib/python3*/site-packages")
        return found

    def run(self, *command, **options) -> "subprocess.CompletedProcess[str]":
        """Run a program of the environment to its end, from a directory unrelated to the lab."""
        program = [str(self.environment / "bin" / command[0]), *map(str, command[1:])]
        variables = {"XDG_CACHE_HOME": str(self.place / "cache"), "HOME": str(self.place), **options.pop("env", {})}
        options = {"cwd": self.place, "capture_output": True, "text": True} | options
        return subprocess.run(program, check=False, env={"PATH": "/usr/bin:/bin"} | variables, **options)

    def files(self) -> dict[str, int]:
        """Return all files of the installation with their times of modification; without byte code."""
        every = (path for path in self.packages.rglob("*") if path.is_file() and path.suffix != ".pyc")
        return {str(path): path.stat().st_mtime_ns for path in every}


def install(place: Path, *, borrowed: bool = False) -> Installed:
    """Build the wheel and install it under a directory.

    borrowed: take Python and other packages from the environment that runs the tests, so that nothing is fetched.
    Otherwise the system's Python gets the wheel and no other package.
    """
    quiet = ["--quiet", "--disable-pip-version-check", "--no-deps"]
    wheel = ["wheel", *quiet, "--no-build-isolation", "--wheel-dir", str(place / "wheels"), str(ROOT)]
    subprocess.run([sys.executable, "-m", "pip", *wheel], check=True)
    environment = place / "environment"
    python = sys.executable if borrowed else interpreter()
    subprocess.run([python, "-m", "venv", "--without-pip", str(environment)], check=True)
    (built,) = (place / "wheels").glob("*.whl")
    command = ["--python", str(environment), "install", *quiet, "--no-compile", str(built)]
    subprocess.run([sys.executable, "-m", "pip", *command], check=True)
    made = Installed(environment, place / "somewhere")
    made.place.mkdir()
    if borrowed:
        ours = [path for path in sys.path if path.endswith("-packages")]
        (made.packages / "borrowed.pth").write_text("\n".join(ours) + "\n")
    return made
