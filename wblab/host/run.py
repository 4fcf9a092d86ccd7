"""One experiment on the host: from a spec to a finished run directory."""

import json
import math
import re
import secrets
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from wblab.core import layout
from wblab.core.check import check_spec
from wblab.core.errors import WblabError
from wblab.core.loads.base import MAX_CYCLES, NEVER
from wblab.core.rundir import TRACE, TRACE_LOG
from wblab.core.spec import GuestKernel, Spec
from wblab.core.stacks import images, write_bps
from wblab.core.status import PHASES, Message
from wblab.core.tables import to_table
from wblab.core.units import NS_PER_S
from wblab.host import agedimage, kernelparameters
from wblab.host.bundle import bundle
from wblab.host.check import check_kernel
from wblab.host.command import interpreter, kernel_arguments
from wblab.host.disks.disk import made_disks, mkfs_of
from wblab.host.guestlab import GUESTS_PYTHON, GuestLab, guest_lab
from wblab.host.guestmemory import boot_bytes
from wblab.host.guestprograms import describe_programs
from wblab.host.installation import describe_python, guest_sandbox
from wblab.host.machine import describe_host, shared_memory
from wblab.host.place import Place
from wblab.host.process.boot import Boot, Ended, boot
from wblab.host.process.collect import told
from wblab.host.process.limits import Limits
from wblab.host.recorded import Finished, recorded
from wblab.host.request import Request
from wblab.kernels import Kernel, facts, features
from wblab.lab.formats import CONFIG, CONSOLE, EXPERIMENT, RUN, UML, now, write_json
from wblab.lab.packages import tool_path
from wblab.lab.progress import Report, silent

BATCH = MAX_CYCLES
_LIMITS = Limits()
# What the guest must know is made as long as a multiple of this: one digit more of a number is not to move its memory.
_PARAMETERS_BYTES, _PHASE_BYTES = 8192, 512


def run_experiment(  # noqa: PLR0913 - four of them by name
    request: Request,
    results: Path,
    *,
    report: Report = silent,
    limits: Limits = _LIMITS,
    readable: Sequence[str] = (),
    samples_fd: int | None = None,
    handed: Path | None = None,
    is_brief: bool = False,
) -> Finished:
    """Run a request, and keep what the guest leaves in a new directory below `results`. Raises RunFailedError.

    readable: what the guest may read of the host beside what it needs.
    samples_fd: a pipe that gets what the guest writes to layout.SAMPLES_DEVICE.
    handed: a directory that programs of the guest get at layout.PACKAGES, in the place of the lab's packages.
    is_brief: only the loads' times are kept, no trace.
    """
    kernel, spec = request.kernel, request.traced

    def make(staged: Path, record: dict[str, Any]) -> Ended:
        program = bundle(interpreter())
        record["guest"] = _describe_program(program)
        if guests_lab := guest_lab(spec, handed):
            record["guest"]["programs"] = describe_programs(spec, guests_lab)
        write_json(staged / EXPERIMENT, record)
        if kernel.config:
            shutil.copyfile(kernel.config, staged / CONFIG)
        record["memory"] = {"boot_bytes": boot_bytes(spec, kernel.processors)}
        try:
            with prepared(
                spec,
                kernel,
                staged,
                report,
                program=program,
                guests_lab=guests_lab,
                limits=limits,
                readable=readable,
                samples_fd=samples_fd,
                is_brief=is_brief,
            ) as guest:
                report(None, "booting")
                ended = boot(guest, *progress(spec, report))
            if is_brief:
                drop_trace(staged)
            elif spec.trace.events and not (staged / TRACE).exists():
                raise WblabError(f"the guest left no {TRACE}: see its console")
            return ended
        except WblabError as error:
            if (reason := told(str(error), request.spec, staged / CONSOLE)) == str(error):
                raise
            raise WblabError(reason) from error

    return recorded(results, request.spec.name, begun(request), make)


def drop_trace(staged: Path) -> None:
    """Remove what trace-cmd had left so far: nobody ended it."""
    for path in (*staged.glob(f"{TRACE}*"), staged / TRACE_LOG):
        path.unlink(missing_ok=True)


@contextmanager
def prepared(  # noqa: PLR0913
    spec: Spec,
    kernel: Kernel,
    staged: Path,
    report: Report,
    *,
    program: Path,
    guests_lab: GuestLab | None,
    limits: Limits = _LIMITS,
    readable: Sequence[str] = (),
    samples_fd: int | None = None,
    is_brief: bool = False,
) -> Iterator[Boot]:
    """Yield what a guest is booted with, for as long as its disks are there. Raises WblabError."""
    made, memory_bytes = images(spec), boot_bytes(spec, kernel.processors)
    report(None, f"making the disk{'s' if len(made) > 1 else ''}")
    programs = [interpreter(), *filter(None, [tool_path("trace-cmd")])]
    sandbox = guest_sandbox(
        programs,
        readable,
        guests_lab,
        by_ptrace="seccomp" not in features(kernel),
        largest_file_bytes=max(memory_bytes, limits.output_bytes, *(disk.size for disk in made.values())),
    )
    with made_disks(made.values()) as disk_fds:
        mkfs = mkfs_of(spec)
        for place, disk in enumerate(made.values()):
            if disk.is_aged:
                aged = agedimage.provision(
                    spec, disk, mkfs[place], disk_fds[place], kernel=kernel, program=program, report=report
                )
                mkfs[place] = aged
        yield Boot(
            linux=kernel.path,
            arguments=kernel_arguments(spec, watched=samples_fd is not None, processors=kernel.processors),
            run=staged,
            scratch=shared_memory() / f"wblab-{secrets.token_hex(6)}",
            disk_fds=disk_fds,
            limits=limits,
            sandbox=sandbox,
            memory_bytes=memory_bytes,
            mkfs=mkfs,
            program=program,
            texts=guest_texts(spec, _batch(spec, kernel), is_brief=is_brief),
            one_processor=spec.clock.mode == "virtual",
            lab=guests_lab,
            samples_fd=samples_fd,
            parameters=kernelparameters.arguments(spec.kernel.parameters),
        )


def _batch(spec: Spec, kernel: Kernel) -> int:
    """Return how many cycles of a load a kernel may make at once; a parameter may switch that off."""
    # As kstrtobool() reads it.
    is_on = not re.fullmatch("[0nf].*|off?.*", str(spec.kernel.parameters.get("um_cycles", "1")).lower())
    return BATCH if is_on and "cycles" in features(kernel) else 0


def guest_texts(spec: Spec, batch: int = 0, *, is_brief: bool = False) -> dict[str, str]:
    """Return what the guest must know, as JSON, by the files' names.

    Not the run's name, which would change its memory a little; and the phases apart, for the same reason: each in a
    file that says when the next one begins. batch: how many cycles of a load its kernel may make at once. is_brief:
    only the loads' times count.
    """
    anonymous = replace(spec, name="", kernel=GuestKernel(), phase={})
    phases = sorted(spec.phase.items(), key=lambda item: item[1].at)
    begins_ns = [*(phase.at for _, phase in phases), NEVER]
    parameters = {
        "spec": to_table(anonymous),
        "tracecmd": str(tool_path("trace-cmd")),
        "python": str(GUESTS_PYTHON) if spec.needs_lab else "",
        "first_phase_ns": begins_ns[0],
        "batch": batch if spec.clock.mode == "virtual" else 0,
        "is_brief": is_brief,
    }
    texts = {layout.PARAMETERS: _padded(parameters, _PARAMETERS_BYTES)}
    for number, (name, phase) in enumerate(phases):
        table = {"name": name, "phase": to_table(phase), "next_ns": begins_ns[number + 1]}
        texts[layout.phase_file(number)] = _padded(table, _PHASE_BYTES)
    return texts


def _padded(table: dict[str, Any], multiple: int) -> str:
    text = json.dumps(table)
    return text + " " * (-len(text) % multiple)


def progress(spec: Spec, report: Report) -> tuple[Callable[[Message], None], Callable[[], None]]:
    """Return what turns the guest's messages into progress, by phase, and by guest time while the loads run.

    And what says the same again while the guest is silent: a report may end a run, as that of a matrix does.
    """
    expected_ns = expected_duration_ns(spec)
    start_ns = 0
    said: tuple[float | None, str] = (None, "booting")

    def heard(message: Message) -> None:
        nonlocal start_ns, said
        start_ns = message.detail.get("start_ns", start_ns)
        if message.phase == "loads":
            passed_ns = max(0, message.guest_ns - start_ns)
            said = min(1.0, passed_ns / expected_ns), f"running the loads, {passed_ns / NS_PER_S:.0f} s of guest time"
        else:
            said = None, PHASES.get(message.phase, message.phase)
        report(*said)

    return heard, lambda: report(*said)


def expected_duration_ns(spec: Spec) -> int:
    """Return about how long the loads will run: the wait of the last offender, or what a disk takes for all it gets."""
    written = dict.fromkeys(spec.disk, 0)
    for name, load in spec.load.items():
        written[spec.disk_of(name)] += load.written_bytes
    disk_s = max(size / (write_bps(spec, disk) or math.inf) for disk, size in written.items())
    return max(int(disk_s * NS_PER_S), *(load.start + load.idle_ns(0) for load in spec.load.values()), 1)


def begun(request: Request) -> dict[str, Any]:
    """Return the record of a run that is about to start. Should we be killed, this is what stays."""
    spec, kernel = request.spec, request.kernel
    return {
        **RUN.head(UML),
        "spec": to_table(spec),
        "seed": spec.seed,
        "kernel": kernel.describe() | {"features": features(kernel)},
        "left_out": list(request.left_out),
        "guest": None,
        "host": describe_host(),
        "start": now(),
        "end": None,
        "wall_s": None,
        "guest_s": None,
        "outcome": "unfinished",
        "reason": "the wblab command is still running, or was killed",
    }


def _describe_program(program: Path) -> dict[str, Any]:
    return describe_python(interpreter(), program) | {"program_sha256": facts.sha256(program)}


PLACE = Place("User Mode Linux", lambda spec, _: check_spec(spec), check_kernel, run_experiment)
