"""make ARCH=um: configure and compile a tree in a separate folder, with progress, a log and the compiler's errors."""

import hashlib
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from wblab.core.errors import WblabError
from wblab.lab.packages import PROGRAMS, advice
from wblab.lab.progress import Report

_STEP = re.compile(r"^  (?:CC|AS|LD|AR) +(?:\[M\] +)?(\S+)")
_ERROR = re.compile(r"(?:fatal )?error: |undefined reference|multiple definition|: not found$|No space left on device")
_STOPPED = re.compile(r"^make.*: \*\*\* ")

_TOOLS = ("gcc", "ld", "make", "flex", "bison", "bc", "patch", "tar", "xz")
_MORE_TOOLS = ("sh", "awk", "sed", "perl", "m4", "ar", "as", "nm", "objcopy", "readelf", "strip", "gzip")
_LINKED = (
    *("crt1.o", "Scrt1.o", "crti.o", "crtn.o", "crtbegin.o", "crtbeginS.o", "crtbeginT.o", "crtend.o", "crtendS.o"),
    *("libc.so", "libc.so.6", "libc_nonshared.a", "libc.a", "libgcc.a", "libgcc_s.so.1", "libgcc_eh.a"),
    *("librt.a", "libutil.a", "libpthread.a"),
)
_SEARCHED = re.compile(r"^#include <\.\.\.> search starts here:\n(.*?)^End of search list", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Making:
    """One tree, the folder for its objects, and the log of all commands. lock: a descriptor that make inherits."""

    tree: Path
    objects: Path
    log: Path
    lock: int

    def configure(self, allconfig: str, report: Report) -> str:
        """Make a .config of only the given options and their dependencies; return its text. Raises WblabError."""
        report(None, "configuring")
        self.objects.mkdir(parents=True, exist_ok=True)
        given = self.objects / "wblab.config"
        given.write_text(allconfig)
        self._run([f"KCONFIG_ALLCONFIG={given}", "allnoconfig"], report, steps=0)
        return (self.objects / ".config").read_text()

    def compile(self, steps: int, report: Report) -> None:
        """Make `linux`; `steps` is the expected number of compiled files. Raises WblabError."""
        report(None, "compiling")
        self._run([f"-j{os.cpu_count() or 1}", "linux"], report, steps)

    def note(self, text: str) -> None:
        """Write a line of the lab's own into the log."""
        with self.log.open("a") as log:
            log.write(f"# {text}\n")

    def release(self) -> str:
        """Return the kernel's release; call it after `compile`."""
        return (self.objects / "include/config/kernel.release").read_text().strip()

    def _run(self, targets: list[str], report: Report, steps: int) -> None:
        # Keep the paths of this build out of the executable; the kernel's own map covers only __FILE__.
        flags = f"KCFLAGS=-ffile-prefix-map={self.tree}/= -ffile-prefix-map={self.objects}/="
        command = ["make", "-C", str(self.tree), f"O={self.objects}", "ARCH=um", "LOCALVERSION=", flags, *targets]
        with self.log.open("a") as log:
            log.write(f"$ {shlex.join(command)}\n")
            log.flush()
            process = subprocess.Popen(
                command, env=environment(), text=True, errors="replace",
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, pass_fds=[self.lock],
            )  # fmt: skip
            assert process.stdout
            made = 0
            with process:  # leaving the block waits for make, which ends its children
                try:
                    for line in process.stdout:
                        log.write(line)
                        if steps and (step := _STEP.match(line)):
                            made += 1
                            report(min(made / steps, 0.99), step[1])
                except BaseException:
                    process.terminate()
                    raise
        if process.returncode:
            lines = failure(self.log.read_text(errors="replace").replace(f"{self.tree}/", "").splitlines())
            raise WblabError(f"make failed: {'; '.join(lines) or f'exit code {process.returncode}'}; see {self.log}")


def failure(lines: Iterable[str], most: int = 3) -> list[str]:
    """Return the lines of a log that explain why make failed: the first errors, or else where make stopped."""
    errors: list[str] = []
    stopped: list[str] = []
    for line in lines:
        if _ERROR.search(line) and line.strip() not in errors:
            errors.append(line.strip())
        elif _STOPPED.match(line):
            stopped.append(line.strip())
    more = [f"and {len(errors) - most} more errors"] if len(errors) > most else []
    return errors[:most] + more if errors else stopped[:1]


def environment() -> dict[str, str]:
    """Return the environment for make, without variables of an outer make or the shell that could change the kernel."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR", "CCACHE_DIR") if name in os.environ}
    # Fixed, so that the same inputs give the same executable.
    stamp = {"USER": "wblab", "HOST": "localhost", "TIMESTAMP": "1970-01-01 00:00:00 UTC", "VERSION": "1"}
    return {**kept, "LC_ALL": "C", "TZ": "UTC", **{f"KBUILD_BUILD_{key}": value for key, value in stamp.items()}}


def build_tools() -> list[str]:
    """Return the programs that a build needs."""
    return list(_TOOLS)


def check_tools() -> None:
    """Raise WblabError that names missing programs and the command that installs them."""
    missing = [tool for tool in build_tools() if not shutil.which(tool)]
    if missing:
        how = advice(sorted({PROGRAMS[tool] for tool in missing} | {"libc6-dev"}))
        raise WblabError(f"building a kernel needs {', '.join(missing)}: {how}")


def compiler() -> str:
    """Return the first line of `gcc --version` and of `ld --version`. Both are part of a build id."""
    return ", ".join(_first_line(tool) for tool in ("gcc", "ld"))


def surroundings() -> str:
    """Return a digest of what a build reads outside its tree: programs, headers of the system, libraries.

    Each counts by its size and its times. Takes some tenths of a second.
    """
    programs = [shutil.which(tool) for tool in (*_TOOLS, *_MORE_TOOLS)]
    own = [_said("gcc", f"-print-prog-name={name}").strip() for name in ("cc1", "as", "collect2", "ld")]
    linked = [_said("gcc", f"-print-file-name={name}").strip() for name in _LINKED]
    searched = _SEARCHED.search(_said("gcc", "-E", "-v", "-x", "c", os.devnull))
    headers = [folder.strip() for folder in searched[1].splitlines()] if searched else []
    walked = (os.path.join(path, name) for top in headers for path, _, names in os.walk(top) for name in names)
    found = hashlib.sha256(compiler().encode())
    for path in sorted({*filter(None, programs), *own, *linked, *walked}):
        with suppress(OSError):  # gcc says a plain name for what it does not have
            status = os.stat(path)
            found.update(f"{path}\0{status.st_size}\0{status.st_mtime_ns}\0{status.st_ctime_ns}\0".encode())
    return found.hexdigest()


def _first_line(tool: str) -> str:
    return _said(tool, "--version").partition("\n")[0] if shutil.which(tool) else f"no {tool}"


def _said(tool: str, *arguments: str) -> str:
    done = subprocess.run(
        [tool, *arguments],
        env=environment(),
        text=True,
        errors="surrogateescape",
        capture_output=True,
        check=False,
    )
    return done.stdout + done.stderr
