"""The record of a live run: the content of its experiment.json."""

import platform
from collections.abc import Sequence
from typing import Any

from wblab.core.cycles import ending
from wblab.core.spec import Trace
from wblab.core.tables import to_table
from wblab.host.machine import describe_host
from wblab.lab.formats import LIVE, RUN, now
from wblab.lab.livespec import HostDisk, LiveSpec
from wblab.live.runs.loads import Running
from wblab.live.runs.request import LiveRequest
from wblab.live.runs.throughput import Throughput
from wblab.live.runs.traces import Traces
from wblab.machine.block import names_by_number, queue_settings
from wblab.machine.place import Place
from wblab.machine.writeback import dirty_settings, memory_bytes, thresholds


def live_spec(request: LiveRequest, place: Place, trace: Trace) -> LiveSpec:
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


def begun(spec: LiveSpec, request: LiveRequest, place: Place) -> dict[str, Any]:
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


def live(running: Sequence[Running], throughput: Throughput, traces: Traces, ended: str) -> dict[str, Any]:
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


def _command(item: Running) -> dict[str, Any]:
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
