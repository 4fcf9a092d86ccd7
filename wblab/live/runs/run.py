"""One live run: from a request to a finished run directory, with the machine restored."""

import os
import secrets
import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from wblab.core import rundir
from wblab.core.errors import InputError, WblabError
from wblab.core.loads import Command
from wblab.core.tables import to_table
from wblab.core.units import NS_PER_MS, NS_PER_S
from wblab.host.recorded import Finished, RunFailedError
from wblab.lab.formats import COMMAND_LOG, EXPERIMENT, now, write_json
from wblab.lab.held import open_directory, path_of
from wblab.lab.progress import Report, silent
from wblab.lab.specfile import LiveSpec
from wblab.live.runs import record as records
from wblab.live.runs.livetraces import Traces
from wblab.live.runs.program import WatchedProgram
from wblab.live.runs.record import StagedRun, choose_scheduler, limit_command, staged
from wblab.live.runs.request import LiveRequest
from wblab.live.runs.startedloads import StartedLoad, reap, release, start_command, start_load, stop_loads
from wblab.live.runs.watch import Pending, Throughput, Watch
from wblab.machine.directory import own_directory
from wblab.machine.storage import Storage, storage_of
from wblab.machine.undo import Undo
from wblab.report.quantities import duration

_POLL_S = 0.1
_LEAD_NS = 500 * NS_PER_MS  # from the start of the trace to that of the loads
_ENDS = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}


@dataclass(frozen=True)
class _Run:
    """A run in progress. files: a descriptor of the directory in which the loads write. staged: the run directory."""

    request: LiveRequest
    place: Storage
    spec: LiveSpec
    traces: Traces
    throughput: Throughput
    files: int
    staged: StagedRun
    group: Path | None
    program: WatchedProgram | None = None
    running: list[StartedLoad] = field(default_factory=list)

    @property
    def command(self) -> StartedLoad | None:
        return next((item for item in self.running if item.load.role == "offender"), None)


def run_live(request: LiveRequest, results: Path, *, report: Report = silent) -> Finished:
    """Run a checked request (`check_request`). Raises InputError, RunFailedError.

    SIGINT, SIGTERM and SIGHUP end the run early; it keeps what it measured, and counts as a success.
    """
    with signals_blocked(), ExitStack() as stack:
        report(None, "setting up")
        tested = _opened(request.directory, stack)
        request = replace(request, directory=path_of(tested))
        with Undo() as undo:
            run = _set_up(request, tested, results, stack, undo)
            record = records.begun(run.spec, request, run.place)
            record |= _carry_out(run, record, undo, report)
        reap(run.running)
        record["live"]["notes"] += undo.failures
        return Finished(_keep(run.staged, record), record)


def _keep(made: StagedRun, record: dict[str, Any]) -> Path:
    """Write the record, give a successful run's directory its name, and return it. Raises RunFailedError."""
    try:
        write_json(Path(EXPERIMENT), record)
        made.give_back()
        if record["outcome"] != "succeeded":
            raise RunFailedError(f"{record['reason']} (see {made.path})")
        return made.commit()
    except OSError as error:  # a full disk, or somebody who swaps names there
        raise RunFailedError(f"cannot finish the run's directory {made.path}: {error.strerror}") from None


def _opened(directory: Path, stack: ExitStack) -> int:
    """Return a descriptor of the directory on the disk under test. Raises InputError."""
    try:
        stack.callback(os.close, tested := open_directory(directory))
    except OSError as error:
        raise InputError(f"--dir: cannot use {str(directory)!r}: {error.strerror}") from None
    return tested


def _set_up(request: LiveRequest, tested: int, results: Path, stack: ExitStack, undo: Undo) -> _Run:
    """Change the machine as the request says, and make the directories. Raises InputError."""
    place = storage_of(tested)
    for device, name in request.schedulers.items():
        choose_scheduler(device, name, undo)
    token = secrets.token_hex(4)
    group = limit_command(f"wblab-live-{token}", request.cgroup, undo) if request.cgroup else None
    traces = Traces(request, place.filesystem, undo)
    try:
        files = own_directory(tested, f"wblab-live-{token}", undo)
    except OSError as error:
        raise InputError(f"--dir: cannot make a directory in {str(request.directory)!r}: {error.strerror}") from None
    stack.callback(os.close, files)
    try:
        own = stack.enter_context(staged(results, request.name))
    except OSError as error:
        raise InputError(f"--exp: cannot make a directory in {str(results)!r}: {error.strerror}") from None
    spec = records.live_spec(request, place, traces.trace)
    program = None
    if request.pid is not None and request.captures:
        program = WatchedProgram(request.pid, request.captures.bound)
    return _Run(request, place, spec, traces, Throughput(place.device), files, own, group, program)


def _carry_out(run: _Run, record: dict[str, Any], undo: Undo, report: Report) -> dict[str, Any]:
    """Run the loads, write their measurements, and return what the record gains."""
    begun_ns = time.monotonic_ns()
    ended, reason = "", ""
    try:
        write_json(Path(EXPERIMENT), record)
        run.traces.start(Path())
        start_ns = time.monotonic_ns() + _LEAD_NS
        _start(run, start_ns, undo)
        ended = _watch(run, start_ns, report)
    except (WblabError, OSError) as error:
        reason = str(error)
    report(None, "stopping the loads, writing the trace")
    try:
        stop_loads(run.running)
    except WblabError as error:
        reason = reason or str(error)
    run.throughput.sample(time.monotonic_ns(), at_once=True)
    run.traces.stop()
    try:
        for item in run.running:
            rundir.write_load(Path(), item.name, item.load, item.pid, item.stamps)
    except OSError as error:
        reason = reason or f"cannot write the measurements of the loads: {error.strerror}"
    live = records.live(run.running, run.throughput, run.traces, ended)
    if run.program:
        live["notes"].append(run.program.said)
    return {
        "spec": to_table(replace(run.spec, trace=run.traces.trace)),
        "live": record["live"] | live,
        "outcome": "failed" if reason else "succeeded",
        "reason": reason,
        "end": now(),
        "wall_s": round((time.monotonic_ns() - begun_ns) / NS_PER_S, 3),
    }


def _start(run: _Run, start_ns: int, undo: Undo) -> None:
    """Start the loads. Raises OSError."""
    for name, load in run.spec.load.items():
        if isinstance(load, Command):
            running = start_command(name, load, run.staged.started_in, start_ns, Path(COMMAND_LOG))
        else:
            running = start_load(name, load, run.files, start_ns)
        run.running.append(running)
    if run.command:
        release(run.command, run.group, undo)


def _watch(run: _Run, start_ns: int, report: Report) -> str:
    """Watch the run until its end, and return why it ends. Raises WblabError if an innocent load fails."""
    request, captures = run.request, run.request.captures
    watch = Watch(run.running, captures.bound if captures else NS_PER_S)
    program = run.program
    pending = Pending(captures.around if captures else 0)
    deadline_ns = start_ns + request.limit if request.limit is not None else None
    done_ns: int | None = None  # when the command ended
    while True:
        signalled = signal.sigtimedwait(_ENDS, _POLL_S)
        now_ns = time.monotonic_ns()
        run.throughput.sample(now_ns)
        ended_pauses, captured = watch.look(), program or watch
        pending.add(program.look(now_ns) if program else ended_pauses)
        oldest_ns = captured.oldest_ns(now_ns)
        run.traces.keep(now_ns, pending.oldest_ns(oldest_ns))
        run.traces.save(pending.due(now_ns, captured.paused(now_ns)), now_ns, oldest_ns)
        if run.command and done_ns is None and run.command.has_ended():
            done_ns = now_ns
        for item in run.running:
            item.check()
        ended = _ended(run, deadline_ns, done_ns, now_ns)
        if signalled or ended:
            run.traces.save(pending.rest(), now_ns, oldest_ns)
            return "interrupted" if signalled else ended
        report(*_progress(run, watch, start_ns, done_ns, now_ns))


def _ended(run: _Run, deadline_ns: int | None, done_ns: int | None, now_ns: int) -> str:
    """Return why a run ends now; empty while it goes on."""
    if done_ns is not None and now_ns >= done_ns + run.request.tail:
        return "the command ended"
    if deadline_ns is not None and now_ns >= deadline_ns:
        return "the limit was reached"
    if run.program and run.program.has_ended():
        return f"the process {run.request.pid} ended"
    full = [item.name for item in run.running if item.load.role != "offender" and item.has_ended()]
    return f"{full[0]} ran as many cycles as it has room for" if full else ""


def _progress(run: _Run, watch: Watch, start_ns: int, done_ns: int | None, now_ns: int) -> tuple[float | None, str]:
    """Return the share that is done (None: unknown), and a description of the progress."""
    passed_ns, request = now_ns - start_ns, run.request
    words = [f"{max(0, passed_ns) / NS_PER_S:.0f} s"]
    if request.argv:
        until_s = (request.wait - passed_ns) / NS_PER_S
        phase = f"starts in {until_s:.0f} s" if until_s > 0 else "runs" if done_ns is None else "has ended"
        words.append(f"{request.command_name} {phase}")
    if watch.longest:
        words.append(f"longest pause {duration(watch.longest.duration_ns)} ({watch.longest.load})")
    if run.traces.saved:
        words.append(f"{run.traces.saved} saved")
    share = min(1.0, max(0, passed_ns) / request.limit) if request.limit else None
    return share, ", ".join(words)


@contextmanager
def signals_blocked() -> Iterator[None]:
    """Block the signals that end a run, also in threads started in the block: the run checks for them itself.

    A signal that arrives after the run's end is dropped.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDS)
    try:
        yield
    finally:
        while signal.sigtimedwait(_ENDS, 0):
            pass
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
