"""Conditions of the host while a guest runs. None of them may reach the guest."""

import os
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from wblab.host.bundle import bundle
from wblab.host.command import interpreter
from wblab.lab.packages import tool_path

from .processes import descendants

ANOTHER = 54321  # a user id
# Settings that another machine may have.
ENVIRONMENT = {
    "LANG": "tr_TR.UTF-8",
    "LC_ALL": "tr_TR.UTF-8",
    "LANGUAGE": "tr",
    "TZ": "Asia/Kathmandu",
    "PYTHONHASHSEED": "12345",
    "PYTHONUTF8": "0",
    "PYTHONOPTIMIZE": "1",
    "PYTHONMALLOC": "malloc",
    "GLIBC_TUNABLES": "glibc.malloc.arena_max=1",
    "MALLOC_ARENA_MAX": "1",
    "LD_LIBRARY_PATH": "/nonexistent",
    "MKE2FS_CONFIG": "/dev/null",
    "E2FSPROGS_FAKE_TIME": "1",
    "SOURCE_DATE_EPOCH": "2",
    "DETERMINISTIC_SEED": "3",
    "LONG": "x" * 100_000,
    "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
}


@dataclass(frozen=True)
class Condition:
    """A prefix of the run's command, additions to its environment, a user, and what happens beside the run.

    set_up: whether files differ that packages and owners change. landlock: whether the host's kernel has it.
    """

    before: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    user: int | None = None
    set_up: bool = False
    landlock: bool = True
    beside: Callable[[], AbstractContextManager[None]] = nullcontext


@contextmanager
def busy_loops() -> Iterator[None]:
    """Keep every processor busy."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count() or 1)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


@contextmanager
def stopped(*names: str) -> Iterator[None]:
    """Stop the guest's processes of these names every few ms, for a few ms."""
    ended = threading.Event()

    def torment() -> None:
        chance = random.Random(0)
        while not ended.wait(chance.uniform(0.001, 0.008)):
            victims = [pid for pid, name in descendants(os.getpid()).items() if name in names]
            signal_all(victims, signal.SIGSTOP)
            ended.wait(chance.uniform(0.001, 0.008))
            signal_all(victims, signal.SIGCONT)

    thread = threading.Thread(target=torment)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def signal_all(pids: list[int], number: signal.Signals) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


@contextmanager
def cold() -> Iterator[None]:
    """Start with the guest's files absent from the host's page cache, as far as we may."""
    os.sync()
    with suppress(OSError):
        Path("/proc/sys/vm/drop_caches").write_text("3")
    for path in guest_files():
        with open(path, "rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    yield


@contextmanager
def warm() -> Iterator[None]:
    """Start with the guest's files in the host's page cache."""
    for path in guest_files():
        path.read_bytes()
    yield


def guest_files() -> list[Path]:
    directories = [Path("/usr/lib/x86_64-linux-gnu"), Path("/lib/x86_64-linux-gnu")]
    libraries = [path for folder in directories for path in folder.glob("lib[cmz]*.so.*") if path.is_file()]
    return [Path(interpreter()), Path(str(tool_path("trace-cmd"))), bundle(interpreter()), *libraries]


def set_up_otherwise(place: Path) -> tuple[str, ...]:
    """Return a prefix for root that replaces files which packages and owners change, for the wrapped command only."""
    files = {
        "/etc/ld.so.cache": Path("/etc/ld.so.cache").read_bytes() + bytes(64 << 10),
        "/etc/localtime": b"",
        "/etc/mke2fs.conf": b"[defaults]\n\tbase_features = sparse_super\n\tinode_ratio = 65536\n",
    }
    for path, content in files.items():
        (place / Path(path).name).write_bytes(content)
    ours = {path: place / Path(path).name for path in files}
    (place / "empty").mkdir(exist_ok=True)
    library = Path("/usr/lib", Path(interpreter()).name)
    (place / "packages").mkdir(exist_ok=True)
    (place / "packages" / "sitecustomize.py").write_text("import colorsys\n")
    ours["/usr/lib/python3/dist-packages"] = place / "packages"
    folders = [
        "/usr/lib/locale",
        "/usr/lib/x86_64-linux-gnu/traceevent/plugins",
        *(str(path) for path in library.glob("**/__pycache__")),
    ]
    ours |= dict.fromkeys(folders, place / "empty")
    mounts = [f"mount --bind {mine} {theirs}" for theirs, mine in ours.items() if Path(theirs).exists()]
    return "unshare", "--mount", "sh", "-c", " && ".join([*mounts, 'exec "$@"']), "sh"


_PROCESSORS = sorted(os.sched_getaffinity(0))
_SHELL = 'umask 077; ulimit -s unlimited; ulimit -n 256; cd /; exec 7</dev/null 8</dev/zero; exec "$@"'
_OLDER = (sys.executable, str(Path(__file__).with_name("older_host.py")))
_NO_LANDLOCK = (*_OLDER, "444")  # Linux 5.12
CONDITIONS = {
    "idle": Condition(),
    "busy": Condition(beside=busy_loops),
    "stopped": Condition(beside=lambda: stopped("linux")),
    "processes-stopped": Condition(beside=lambda: stopped("linux", "uml-userspace")),
    "first-processor": Condition(("taskset", "-c", str(_PROCESSORS[0])), beside=busy_loops),
    "last-processor": Condition(("taskset", "-c", str(_PROCESSORS[-1]))),
    "environment": Condition(environment=ENVIRONMENT),
    "shell": Condition(("nice", "-n", "19", "setarch", "-R", "sh", "-c", _SHELL, "sh")),
    "user": Condition(user=ANOTHER, environment=ENVIRONMENT),
    "cold": Condition(beside=cold),
    "warm": Condition(beside=warm),
    "set-up": Condition(set_up=True),
    "without-landlock": Condition(_NO_LANDLOCK, landlock=False),
    "set-up-without-landlock": Condition(_NO_LANDLOCK, set_up=True, landlock=False),
    "linux-6.1": Condition((*_OLDER, "451")),
}
