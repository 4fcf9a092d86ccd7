"""The second stage of PID 1, in the guest's own memory: the experiment, up to power off."""

import json
import os
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from wblab.core import layout, rundir
from wblab.core.copied import Course
from wblab.core.errors import WblabError
from wblab.core.spec import GRID_NS, Spec
from wblab.core.status import Message, Phase
from wblab.core.syscalls import power_off
from wblab.core.tables import from_table
from wblab.core.units import NS_PER_S, Bytes
from wblab.guest.agenda import agenda
from wblab.guest.agents import provide_lab, start_agents, stop_agents
from wblab.guest.cgroups import make_cgroups, mount_cgroups
from wblab.guest.devices import GuestDisk, guest_disks, places
from wblab.guest.disk import abandon_servers, lift_throttles, set_up_disk, unmount_disks, write_out
from wblab.guest.loads import Running, lay_out_files, map_files, start_loads, stop_loads, wait_for
from wblab.guest.memory import leave, mount_reserve, renew_limits
from wblab.guest.mounts import mount_all
from wblab.guest.settings import set_sysctls
from wblab.guest.told import Told
from wblab.guest.tracing import Recording

# What is taken until the loads start, about: before, the guest is a machine that was booted with that much more memory.
_SET_UP_BYTES = 36 << 20
_READY_NS = 5 * 10**8  # before the loads' start their processes have all they need, and sleep
_SETTLE_S = 60.0  # limit of guest time for quick steps: the start of the trace, the stop of a load


def main() -> NoReturn:
    """Run the experiment and power off, whatever happens."""
    status = None
    try:
        mount_all()
        os.environ.pop("PYTHONPATH", None)  # not for children, which may use another Python
        status = os.open(layout.STATUS_DEVICE, os.O_WRONLY | os.O_NOCTTY)
        say(status, "mounts")
        parameters = json.loads((layout.SCRATCH / layout.PARAMETERS).read_text())
        spec = from_table(Spec, parameters["spec"], exact=True)
        if spec.needs_lab:
            provide_lab(parameters["python"])
        if "age" in parameters:
            from wblab.guest.aging import age_disks  # imported here, as a run does not need it

            age_disks(spec, partial(say, status, "disk"))
        else:
            run(spec, parameters, status)
    except BaseException as error:
        reason = str(error) if isinstance(error, WblabError) else f"{type(error).__name__} in the guest: {error}"
        if status is not None:
            say(status, "failed", reason=reason)
        import traceback  # imported here, as only an error needs it

        traceback.print_exc()
    finally:
        if status is not None:
            say(status, "power off")
        power_off()
    raise AssertionError("the guest is still on")


def say(status: int, phase: Phase, **detail: Any) -> None:
    """Send a message to the host."""
    os.write(status, Message(phase, time.monotonic_ns(), detail).line())


def run(spec: Spec, parameters: dict[str, Any], status: int) -> None:
    """Run one experiment; its phases are in separate files. Raises WblabError or OSError."""
    say(status, "settings")
    mount_reserve(swaps=spec.swaps)
    leave(Bytes(spec.memory + spec.trace.buffer + _SET_UP_BYTES + spec.held_bytes))
    renew_limits()
    set_sysctls(spec.sysctl)
    sleep_until(on_grid(spec, time.monotonic_ns()))
    say(status, "disk")
    cgroups = mount_cgroups(spec)
    disks = guest_disks(spec)
    used = places(spec, disks)
    for disk in disks.values():
        set_up_disk(disk, lambda: say(status, "disk"))
    lay_out_files(spec.load, used, lambda: say(status, "disk"))
    groups = make_cgroups(disks, spec.cgroup, cgroups)
    recording = None
    if spec.trace.events:
        say(status, "trace")
        recording = Recording(spec.trace, parameters["tracecmd"], layout.SCRATCH / rundir.TRACE)
        recording.start(_SETTLE_S)
    os.environ.pop("LD_LIBRARY_PATH", None)  # users' programs may have other libraries of the same names
    agents = start_agents(spec)
    start_ns = on_grid(spec, time.monotonic_ns() + max(spec.trace.lead, 2 * _READY_NS))
    say(status, "loads", start_ns=start_ns)
    told = Told(Course.of(spec, parameters["first_phase_ns"], is_brief=parameters["is_brief"]))
    running = start_loads(spec, used, start_ns, groups, parameters["batch"])
    try:
        sleep_until(start_ns - _READY_NS)
        reserved, available = leave(spec.memory)
        say(status, "loads", reserved_bytes=reserved, available_bytes=available)
        offenders = [item for item in running if item.name in spec.offenders]
        others = [item for item in running if item.name not in spec.offenders]
        due, deadline = agenda(disks, start_ns, running, cgroups, told.course), told.deadline(start_ns)
        wait_for(offenders, deadline, lambda: say(status, "loads"), others=others, agenda=due)
        say(status, "stop")
        settled_ns, give_up = time.monotonic_ns() + int(_SETTLE_S * NS_PER_S), partial(abandon_servers, disks.values())
        stop_loads(
            running, spec.stops, replace(deadline, time_ns=lambda: max(settled_ns, deadline.time_ns())), due, give_up
        )
        stop_agents(agents)
        if recording and not told.course().is_brief:
            check_lost(recording.stop())
    except BaseException:
        if recording:
            with suppress(WblabError, OSError):  # keep the trace so far; a second stop fails, which does not matter
                recording.stop()
        raise
    finally:
        say(status, "write")
        write_loads(layout.SCRATCH, running)
    if not told.course().is_brief:
        finish_disks(spec, disks, used)


def finish_disks(spec: Spec, disks: Mapping[str, GuestDisk], used: Mapping[str, Path]) -> None:
    """Write all data out, record where the disks and the loads' files are, and unmount."""
    rundir.write_disks(layout.SCRATCH, write_out(disks, spec.clock.mode))
    lift_throttles(disks.values())
    if files := map_files(spec.load, used):
        rundir.write_extents(layout.SCRATCH, files)
    unmount_disks(disks.values())


def on_grid(spec: Spec, time_ns: int) -> int:
    """Return the next multiple of GRID_NS in virtual time, else the time itself; in ns of CLOCK_MONOTONIC."""
    return -(-time_ns // GRID_NS) * GRID_NS if spec.clock.mode == "virtual" else time_ns


def sleep_until(time_ns: int) -> None:
    """Sleep until a time of CLOCK_MONOTONIC in ns."""
    time.sleep(max(0, time_ns - time.monotonic_ns()) / NS_PER_S)


def check_lost(lost: int) -> None:
    """Raise WblabError if the trace lost events, which makes its curves wrong."""
    if lost:
        raise WblabError(f"the trace lost {lost} events: raise trace.buffer or trace fewer events")


def write_loads(directory: Path, running: list[Running]) -> None:
    """Write the measurements of all loads, also of failed ones."""
    for item in running:
        rundir.write_load(directory, item.name, item.load, item.pid, item.stamps)
