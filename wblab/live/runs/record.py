"""The record of a live run: the content of its experiment.json."""

import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wblab.core.cycles import ending
from wblab.core.errors import InputError, nearest
from wblab.core.spec import Trace
from wblab.core.tables import to_table
from wblab.host.machine import describe_host
from wblab.lab import results as names
from wblab.lab.formats import LIVE, RUN, now
from wblab.lab.held import open_directory
from wblab.lab.specfile import HostDisk, LiveSpec
from wblab.live.runs.livetraces import Traces
from wblab.live.runs.request import LiveRequest
from wblab.live.runs.startedloads import StartedLoad
from wblab.live.runs.watch import Throughput
from wblab.machine.block import (
    dirty_settings,
    find_disk,
    memory_bytes,
    names_by_number,
    queue_settings,
    schedulers,
    set_scheduler,
    thresholds,
)
from wblab.machine.cgroup import cgroup_root, controllers_of, make_group
from wblab.machine.changes import WayBack
from wblab.machine.directory import open_own
from wblab.machine.storage import Storage

# What a live run changes on the machine on request: I/O schedulers, limits for the command.


def choose_scheduler(device: str, name: str, way_back: WayBack) -> None:
    """Set the I/O scheduler of a device's disk. Raises InputError."""
    option = f"--scheduler {device}={name}"
    try:
        disk = find_disk(device)
        known = schedulers(disk)
        try:
            set_scheduler(disk, name, way_back)
        except OSError as error:
            raise InputError(f"{option}: {error.strerror}: {disk.name} supports {', '.join(known)}") from None
    except OSError as error:
        raise InputError(f"{option}: {error.strerror}: give a disk in /dev, such as sda=bfq") from None


def limit_command(name: str, files: Mapping[str, str], way_back: WayBack) -> Path:
    """Make a cgroup v2 group with these files set, and return it. Raises InputError."""
    root = cgroup_root()
    known = controllers_of(root) if root else []
    controllers = dict.fromkeys(file.partition(".")[0] for file in files)
    for controller in controllers:
        if root is None or controller not in known:
            there = f"it has {', '.join(known)}" if known else "it has only those of version 1, or none"
            raise InputError(f"--cgroup: cgroup v2 on this machine has no {controller!r} controller: {there}")
    assert root is not None
    group = root / name
    try:
        make_group(group, controllers, way_back)
    except OSError as error:
        raise InputError(f"--cgroup: cannot make a group in {root}: {error.strerror}: run it as root") from None
    for file, value in files.items():
        _put(group, file, value)
    return group


def _put(group: Path, file: str, value: str) -> None:
    path = group / file
    if not path.exists():
        present = sorted(item.name for item in group.iterdir())
        raise InputError(f"--cgroup: this kernel has no {file!r}{nearest(file, present)}")
    try:
        path.write_text(value)
    except OSError as error:
        raise InputError(f"--cgroup: {file}={value}: {error.strerror}") from None


# The run directory of a live run: safe where others may swap names, and private until it is handed over.


@dataclass(frozen=True)
class StagedRun:
    """A run directory that is this process's working directory: its files are opened by bare names.

    path: where it was made, for messages. started_in: the working directory before.
    """

    path: Path
    started_in: int
    _parent: int
    _directory: int

    def commit(self) -> Path:
        """Give a successful run's directory its final name, and return its path."""
        os.fchdir(self._parent)
        return self.path.with_name(names.commit(Path(self.path.name)).name)

    def give_back(self) -> None:
        """Hand it and its content to the user who called sudo."""
        for name in os.listdir(self._directory):
            _give(name, self._directory)
        _give(self._directory)


@contextmanager
def staged(results: Path, name: str) -> Iterator[StagedRun]:
    """Make a run's directory and work in it during the block. Raises OSError.

    Nobody else may read it: it shows what ran on the machine, and the output of a command that root started.
    """
    started_in = os.open(".", os.O_PATH | os.O_DIRECTORY)
    parent = _results(results)
    try:
        os.fchdir(parent)
        umask = os.umask(0o077)
        try:
            made = names.stage(Path(), name)
        finally:
            os.umask(umask)
        directory = open_own(parent, made.name)
        os.fchdir(directory)
        yield StagedRun(results / made.name, started_in, parent, directory)
        os.close(directory)
    finally:
        os.fchdir(started_in)
        os.close(parent)
        os.close(started_in)


def _results(path: Path) -> int:
    """Return a descriptor of the directory of runs, made if missing. Raises OSError."""
    try:
        return open_directory(path)
    except FileNotFoundError:
        parent = _results(path.parent)
    try:
        os.mkdir(path.name, dir_fd=parent)
        directory = os.open(path.name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=parent)
        if os.fstat(directory).st_uid == os.geteuid() and not os.listdir(directory):
            _give(directory)
        return directory
    finally:
        os.close(parent)


def _give(path: int | str, directory: int | None = None) -> None:
    if os.geteuid() == 0 and (user := os.environ.get("SUDO_UID", "")).isdecimal():
        group = os.environ.get("SUDO_GID", "")
        owner = int(user), int(group) if group.isdecimal() else -1
        if isinstance(path, int):
            os.fchown(path, *owner)
        else:
            os.chown(path, *owner, dir_fd=directory, follow_symlinks=False)


def live_spec(request: LiveRequest, place: Storage, trace: Trace) -> LiveSpec:
    """Return the spec: the request, on this machine."""
    return LiveSpec(
        name=request.name,
        memory=memory_bytes(),
        disk=HostDisk(
            device=place.source if place.device else "",
            filesystem=place.filesystem,
            mount_options=place.mount_options,
            scheduler=place.schedulers(),
        ),
        sysctl=dirty_settings(),
        cgroup=request.cgroup,
        trace=trace,
        tail=request.tail,
        load=request.loads(),
    )


def begun(spec: LiveSpec, request: LiveRequest, place: Storage) -> dict[str, Any]:
    """Return the record of a run about to start. It stays if we are killed."""
    return {
        **RUN.head(LIVE),
        "spec": to_table(spec),
        "seed": spec.seed,
        "kernel": {"release": platform.release()},
        "guest": None,
        "host": describe_host(),
        "start": now(),
        "end": None,
        "wall_s": None,
        "outcome": "unfinished",
        "reason": "wblab live is still running, or was killed",
        "live": {
            "directory": str(request.directory),
            "device": place.device.name if place.device else None,
            "disks": [disk.name for disk in place.disks],
            "device_names": names_by_number(),
            "queues": {disk.name: queue_settings(disk) for disk in place.disks},
            "thresholds": thresholds(),
        },
    }


def live(running: Sequence[StartedLoad], throughput: Throughput, traces: Traces, ended: str) -> dict[str, Any]:
    """Return what the record gains at the end. `ended`: why the run ended."""
    return {
        "command": next((_command(item) for item in running if item.load.role == "offender"), None),
        "traffic": throughput.to_json(),
        "thresholds_at_end": thresholds(),
        "lost_events": traces.lost,
        "captures": traces.saved,
        "ended": ended,
        "notes": [*throughput.notes, *traces.notes],
    }


def _command(item: StartedLoad) -> dict[str, Any]:
    """Describe the command's end, with the pid of its own process, on the loads' time axis.

    exit_code: negative: the signal that ended it. None: it never started, or we stopped it.
    """
    times_ns, ended = item.stamps.times_ns(), ending(item.stamps)
    started = len(times_ns) > 1 and bool(item.spawned)
    return {
        "load": item.name,
        "pid": item.spawned or None,
        "start_ns": times_ns[1] if started else None,
        "end_ns": times_ns[2] if len(times_ns) > 2 else None,
        "exit_code": ended.status if started and ended.end == "finished" else None,
        "error": ended.error,
    }
