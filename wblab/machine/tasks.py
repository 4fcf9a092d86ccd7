"""Tasks that sleep uninterruptibly now (state D), from /proc: which, in which sleep, and by what stack. proc(5)."""

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
_KERNEL_THREAD = 0x00200000  # PF_KTHREAD, include/linux/sched.h
_FLAGS, _THREADS = 6, 17  # fields of /proc/PID/stat after the name
_SWITCHES = re.compile(rb"^voluntary_ctxt_switches:\s+(\d+)", re.MULTILINE)
_FUNCTION = re.compile(rb"^\[<[0-9a-f]+>\] ([\w.]+)\+", re.MULTILINE)
_READ_BYTES = 1 << 14


@dataclass(frozen=True)
class Asleep:
    """A task in state D. sleep: the number of its sleep: as long as it is the same, the task has slept on."""

    tid: int
    sleep: int
    is_kernel: bool


def asleep(proc: Path = PROC) -> Iterator[Asleep]:
    """Yield all tasks of the machine that sleep uninterruptibly now."""
    for name in os.listdir(proc):
        if name.isdigit():
            yield from asleep_of(int(name), proc)


def asleep_of(process: int, proc: Path = PROC) -> Iterator[Asleep]:
    """Yield the threads of a process that sleep uninterruptibly now; none if it is gone."""
    # Strings, not paths: a look at all tasks of a machine must cost little.
    base = f"{proc}/{process}"
    if not (fields := _stat(f"{base}/stat")):
        return
    if fields[_FLAGS].isdigit() and int(fields[_FLAGS]) & _KERNEL_THREAD:
        if fields[0] == b"D":
            yield from _asleep(process, base, is_kernel=True)
    elif fields[_THREADS] == b"1":
        if fields[0] == b"D":
            yield from _asleep(process, base, is_kernel=False)
    else:
        with suppress(OSError):
            for thread in os.listdir(f"{base}/task"):
                place = f"{base}/task/{thread}"
                if (fields := _stat(f"{place}/stat")) and fields[0] == b"D":
                    yield from _asleep(int(thread), place, is_kernel=False)


def stack_of(tid: int, proc: Path = PROC) -> list[str]:
    """Return the functions of a task's stack, innermost first; none where we may not read it or the task is gone."""
    with suppress(OSError):
        return [name.decode() for name in _FUNCTION.findall(_read(f"{proc}/{tid}/stack"))]
    return []


def no_stacks(proc: Path = PROC) -> str:
    """Return why stacks of tasks cannot be read; empty if they can."""
    try:
        _read(f"{proc}/{os.getpid()}/stack")
    except OSError as error:
        return f"{error.strerror}{'' if os.geteuid() == 0 else ': only root may read them'}"
    return ""


def _asleep(tid: int, place: str, *, is_kernel: bool) -> Iterator[Asleep]:
    with suppress(OSError):
        if found := _SWITCHES.search(_read(f"{place}/status")):
            yield Asleep(tid, int(found[1]), is_kernel)


def _stat(path: str) -> list[bytes]:
    """Return the fields of a task's stat after its name, which may have brackets, up to the number of threads."""
    try:
        text = _read(path)
    except OSError:
        return []
    return text[text.rindex(b")") + 2 :].split(b" ", _THREADS + 1)


def _read(path: str) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(descriptor, _READ_BYTES)
    finally:
        os.close(descriptor)
