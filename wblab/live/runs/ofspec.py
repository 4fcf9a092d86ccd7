"""One run of a spec on this machine itself: its loads in the user's directories, one directory for each disk.

However it ends, by a signal or SIGKILL too, the loads end, their files are removed, and the machine's limits are back.
"""

import os
import secrets
import signal
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wblab.core import rundir
from wblab.core.cycles import check_ending, ending
from wblab.core.errors import WblabError
from wblab.core.spec import Spec
from wblab.core.status import Message
from wblab.core.streams import phase_stream
from wblab.core.syscalls import syncfs
from wblab.core.units import NS_PER_MS, NS_PER_S
from wblab.host.place import Place
from wblab.host.process.boot import Ended
from wblab.host.recorded import Finished, recorded
from wblab.host.request import Request
from wblab.host.run import begun
from wblab.kernels.here import HereKernel, find
from wblab.kernels.kernel import Kernel
from wblab.lab.formats import EXPERIMENT, write_json
from wblab.lab.held import open_directory
from wblab.lab.progress import Report, silent
from wblab.live.runs.here import (
    check,
    check_disks,
    check_keys,
    check_room,
    device_of,
    directory_of,
    free_bytes,
    shared_bottoms,
)
from wblab.live.runs.startedloads import StartedLoad, reap, start_load, stop_loads
from wblab.live.runs.watch import Throughput
from wblab.machine.block import dirty_settings, memory_bytes, thresholds
from wblab.machine.changes import Setting, WayBack
from wblab.machine.directory import own_directory
from wblab.machine.storage import Storage, storage_of
from wblab.machine.undo import Undo

# The machine's dirty limits, set to those of a spec for the time of one run.

_VM = Path("/proc/sys/vm")
# Two files show one limit: while one is in force, the other has 0.
_COUNTERPARTS = {
    "dirty_bytes": "dirty_ratio",
    "dirty_ratio": "dirty_bytes",
    "dirty_background_bytes": "dirty_background_ratio",
    "dirty_background_ratio": "dirty_background_bytes",
}


def set_limits(sysctl: Mapping[str, int | str], way_back: WayBack, vm: Path = _VM) -> None:
    """Set vm.dirty* settings; each is noted first. Raises WblabError."""
    for key, value in sysctl.items():
        name = key.removeprefix("vm.")
        try:
            _set(vm, name, str(value), way_back)
        except OSError as error:
            raise WblabError(f"cannot set {key}={value} on this machine: {error.strerror}") from None


def _set(vm: Path, name: str, value: str, way_back: WayBack) -> None:
    path = vm / name
    before = path.read_text().strip()
    if before == value:
        return
    back = path
    if before == "0" and name in _COUNTERPARTS:
        back = vm / _COUNTERPARTS[name]
        before = back.read_text().strip()
    way_back.note(Setting(path=str(path), new=value, back_path=str(back), back=before))
    path.write_text(value)


_POLL_S = 0.1
_LEAD_NS = 500 * NS_PER_MS  # for the loads' processes to start
_SPREAD_NS = 50_000_000  # a seed delays each load by up to this much, as in wblab.guest.loads
_KILLED_LIMIT_S = 20.0  # shorter than a study waits for its worker
_END = {signal.SIGTERM}  # from the study; a terminal's Ctrl-C is for the study itself


@dataclass
class _Here:
    """A run in progress. By disk: a descriptor of its directory, which is ours alone, and the traffic of its device."""

    spec: Spec
    held: dict[str, int] = field(default_factory=dict)
    traffic: dict[str, Throughput] = field(default_factory=dict)
    running: list[StartedLoad] = field(default_factory=list)

    @property
    def by_name(self) -> dict[str, StartedLoad]:
        return {item.name: item for item in self.running}

    def sample(self, *, at_once: bool = False) -> None:
        """Sample what the devices have written."""
        for throughput in self.traffic.values():
            throughput.sample(time.monotonic_ns(), at_once=at_once)


def run_here(request: Request, results: Path, *, report: Report = silent) -> Finished:
    """Run a request on this machine, and keep what it measures in a new directory below `results`.

    Raises RunFailedError, InputError; KeyboardInterrupt at SIGTERM.
    """

    def make(staged: Path, record: dict[str, Any]) -> Ended:
        started_s = time.monotonic()
        with _signals_blocked(), ExitStack() as stack:
            with Undo() as undo:
                _make(request, staged, record, stack, undo, report)
            if undo.failures:
                raise WblabError("; ".join(undo.failures))
        wall_s = time.monotonic() - started_s
        return Ended(Message("write", time.monotonic_ns()), wall_s)

    return recorded(results, request.spec.name, begun(request), make)


def _make(  # noqa: PLR0913, PLR0917
    request: Request, staged: Path, record: dict[str, Any], stack: ExitStack, undo: Undo, report: Report
) -> None:
    spec, kernel = request.spec, request.kernel
    assert isinstance(kernel, HereKernel)
    here = _Here(spec)
    places: dict[str, Storage] = {}
    for disk in spec.disk:
        here.held[disk], places[disk] = _own(spec, kernel, disk, stack, undo)
        here.traffic[disk] = Throughput(places[disk].device)
    record["machine"] = _describe(spec, kernel, places)
    write_json(staged / EXPERIMENT, record)
    try:
        _lay_out(here, report)
        if kernel.limits:
            set_limits(spec.sysctl, undo)
        record["machine"]["thresholds"] = thresholds()
        _start(here, time.monotonic_ns() + _LEAD_NS)
        _watch(here, report)
        for name in spec.stops:
            stop_loads([here.by_name[name]])
        for item in here.running:
            _check(item)
    finally:
        _kill(here.running)
        here.sample(at_once=True)
        record["machine"]["traffic"] = {disk: of.to_json() for disk, of in here.traffic.items()}
        for item in here.running:
            rundir.write_load(staged, item.name, item.load, item.pid, item.stamps)


def _own(spec: Spec, kernel: HereKernel, disk: str, stack: ExitStack, undo: Undo) -> tuple[int, Storage]:
    """Make a private directory for a disk's loads, which the undo removes. Raises WblabError."""
    directory = directory_of(spec, kernel, disk)
    try:
        stack.callback(os.close, given := open_directory(directory))
        check_room(spec, disk, directory, free_bytes(given))
        stack.callback(os.close, held := own_directory(given, f"wblab-witness-{secrets.token_hex(4)}", undo))
    except OSError as error:
        raise WblabError(f"cannot make a directory in {str(directory)!r}: {error.strerror}") from None
    return held, storage_of(given)


def _describe(spec: Spec, kernel: HereKernel, places: dict[str, Storage]) -> dict[str, Any]:
    """Return what the record says of this machine, before anything is changed."""
    directories = {
        disk: {
            "directory": str(path := directory_of(spec, kernel, disk)),
            "device": device_of(place, path),
            "has_device": place.device is not None,
            "filesystem": place.filesystem,
            "mount_options": list(place.mount_options),
            "scheduler": place.schedulers(),
        }
        for disk, place in places.items()
    }
    return {
        "processors": kernel.processors,
        "memory_bytes": memory_bytes(),
        "disks": directories,
        "shared_disks": shared_bottoms(places),
        "sysctl": dirty_settings(),
        "own_thresholds": thresholds(),
        "limits_set": kernel.limits,
    }


def _lay_out(here: _Here, report: Report) -> None:
    """Make the loads' files, and wait until the disk has them. Raises WblabError; KeyboardInterrupt at SIGTERM."""
    report(None, "making the loads' files")
    for name, load in here.spec.load.items():
        held = here.held[here.spec.disk_of(name)]
        try:
            load.lay_out(Path(f"/proc/self/fd/{held}"), _raise_if_ended)
        except OSError as error:
            raise WblabError(f"cannot make the files of the load {name}: {error.strerror}") from None
    for held in here.held.values():
        _raise_if_ended()
        syncfs(held)


def _start(here: _Here, start_ns: int) -> None:
    spec = here.spec
    for name, load in spec.load.items():
        first_ns = start_ns + load.start + phase_stream(spec.seed, name).randrange(_SPREAD_NS)
        here.running.append(start_load(name, load, here.held[spec.disk_of(name)], first_ns, seed=spec.seed))


def _watch(here: _Here, report: Report) -> None:
    """Wait for the offenders. Raises WblabError if a load fails; KeyboardInterrupt at SIGTERM."""
    start_s = time.monotonic()
    while True:
        _raise_if_ended(_POLL_S)
        here.sample()
        for item in here.running:
            if item.has_ended():
                _check(item)
        if all(here.by_name[name].has_ended() for name in here.spec.offenders):
            return
        passed_s = time.monotonic() - start_s
        if passed_s > here.spec.time_limit / NS_PER_S:
            names = ", ".join(name for name in here.spec.offenders if not here.by_name[name].has_ended())
            raise WblabError(f"the load {names} did not end within time_limit: raise it or lower its size")
        report(None, f"running the loads, {passed_s:.0f} s")


def _check(item: StartedLoad) -> None:
    """Raise WblabError for a load that failed; its process has ended."""
    ended = ending(item.stamps)
    if ended.end == "failed" and not ended.error:
        raise WblabError(f"the load {item.name} was killed: did somebody else, or the lack of memory, end it?")
    check_ending(item.name, ended)


def _kill(running: list[StartedLoad]) -> None:
    """Kill what still runs, and wait for its end for a while: a disk may hold it."""
    for item in running:
        if not item.has_ended():
            os.kill(item.pid, signal.SIGKILL)
    until_s = time.monotonic() + _KILLED_LIMIT_S
    while not all(item.has_ended() for item in running) and time.monotonic() < until_s:
        time.sleep(_POLL_S)
    reap(running)


def _raise_if_ended(wait_s: float = 0.0) -> None:
    if signal.sigtimedwait(_END, wait_s):
        raise KeyboardInterrupt


@contextmanager
def _signals_blocked() -> Iterator[None]:
    """Block SIGTERM, also in what is started in the block: the run looks for it where nothing is half done."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _END)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _check_here(spec: Spec, kernel: Kernel) -> None:
    assert isinstance(kernel, HereKernel)
    check(spec, kernel)


def _check_spec(spec: Spec, name: str) -> None:
    check_keys(spec)
    check_disks(spec, find(name))


PLACE = Place("this machine", _check_spec, _check_here, run_here, boots=False)
