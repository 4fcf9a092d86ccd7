"""One experiment on a stock kernel in QEMU: from a request to a finished run directory."""

import json
import os
import secrets
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from wblab.core.errors import InputError, WblabError
from wblab.core.spec import Disk, Spec
from wblab.core.stacks import images, is_copied
from wblab.core.tables import to_table
from wblab.host.check import check_programs
from wblab.host.disks.disk import made_disks, mkfs_of
from wblab.host.disks.mkfs import Mkfs
from wblab.host.machine import shared_memory
from wblab.host.place import Place
from wblab.host.process.boot import Boot, Ended, boot
from wblab.host.process.limits import Limits
from wblab.host.recorded import Finished, recorded
from wblab.host.request import Request
from wblab.host.run import begun, guest_texts, progress
from wblab.host.sandbox import DISTRIBUTION, Sandbox
from wblab.kernels.kernel import Kernel
from wblab.kernels.stock.modules import Modules
from wblab.kernels.stock.stockkernel import StockKernel, parse
from wblab.lab.formats import CONFIG, EXPERIMENT, write_json
from wblab.lab.packages import tool_path
from wblab.lab.places import ROOT
from wblab.lab.progress import Report, silent
from wblab.substrates.qemu.command import (
    CONSOLE_FD,
    INSTRUCTION_NS,
    EmulatedMachine,
    arguments,
    memory_bytes,
    translated,
)
from wblab.substrates.qemu.command import check as check_translation
from wblab.substrates.qemu.devices import check_devices, image_bytes
from wblab.substrates.qemu.initramfs import initramfs
from wblab.substrates.qemu.left import Queues, take_over

# The disks' filesystems as a guest in QEMU gets them: only the pieces that mkfs has written.

_PIECE = 1 << 16
_NOTHING, _UNWRITTEN = bytes(_PIECE), b"\xff" * _PIECE
# mkfs is started by a fork, which is not for a process that may have threads.
_PROGRAM = """
import json, sys
sys.path.append(sys.argv[1])
from wblab.core.errors import WblabError
from wblab.host.disks.mkfs import Mkfs, format_disk
try:
    format_disk(Mkfs(**json.loads(sys.argv[2])), int(sys.argv[3]))
except WblabError as error:
    sys.exit(str(error))
"""


def disk_contents(spec: Spec) -> list[bytes]:
    """Return what lies on each disk at first, in the order of the images. Raises WblabError.

    A line with the offsets and lengths of pieces, as JSON, and then the pieces; what is between them is zero.
    """
    with formatted_disks(spec) as descriptors:
        unwritten = [_UNWRITTEN if is_copied(disk) else _NOTHING for disk in images(spec).values()]
        return [_packed(*each) for each in zip(descriptors, unwritten, strict=True)]


@contextmanager
def formatted_disks(spec: Spec) -> Iterator[list[int]]:
    """Yield the disks' images with their filesystems, as file descriptors. Raises WblabError."""
    with made_disks(images(spec).values()) as descriptors:
        for mkfs, descriptor in zip(mkfs_of(spec), descriptors, strict=True):
            _format(mkfs, descriptor)
        yield descriptors


def _format(mkfs: Mkfs, descriptor: int) -> None:
    order = [str(ROOT), json.dumps(asdict(mkfs)), str(descriptor)]
    command = [sys.executable, "-I", "-S", "-c", _PROGRAM, *order]
    done = subprocess.run(command, pass_fds=[descriptor], capture_output=True, text=True, check=False)
    if done.returncode:
        raise WblabError((done.stderr.strip().splitlines() or ["mkfs failed"])[-1])


def _packed(descriptor: int, unwritten: bytes) -> bytes:
    pieces = list(_pieces(descriptor, unwritten))
    index = json.dumps([(offset, len(data)) for offset, data in pieces]).encode()
    return b"\n".join([index, b"".join(data for _, data in pieces)])


def _pieces(descriptor: int, unwritten: bytes) -> Iterator[tuple[int, bytes]]:
    for offset in range(0, os.fstat(descriptor).st_size, _PIECE):
        data = os.pread(descriptor, _PIECE, offset)
        if data not in (_NOTHING[: len(data)], unwritten[: len(data)]):
            yield offset, data


EMULATOR = "qemu-system-x86_64"
_LIMITS = Limits()
_SLOWER = 3  # an emulated machine takes seconds until its first word, and more beside other work
_MOST_LEFT_BYTES = 256 << 20
_EMULATOR_BYTES = 512 << 20  # for what it has translated


def run_stock(
    request: Request,
    results: Path,
    *,
    report: Report = silent,
    limits: Limits = _LIMITS,
    readable: Sequence[str] = (),
) -> Finished:
    """Run a request on a stock kernel, and keep what it leaves in a new directory below `results`.

    readable: must be empty. Raises RunFailedError, InputError.
    """
    if readable:
        raise InputError("--allow-read: a stock kernel in QEMU sees no file of this machine: leave it out")
    kernel = request.kernel
    assert isinstance(kernel, StockKernel)
    spec = translated(request.traced, kernel.driver, kernel.processors)
    machine = EmulatedMachine(kernel.processors, "tcg", spec.clock.mode == "virtual", kernel.driver)

    def make(staged: Path, record: dict[str, Any]) -> Ended:
        if kernel.config:
            shutil.copyfile(kernel.config, staged / CONFIG)
        report(None, "making the guest's disks")
        with ExitStack() as stack:
            made = stack.enter_context(formatted_disks(spec)) if kernel.driver else ()
            disks = dict(zip(made, images(spec).values(), strict=False))
            contents = () if kernel.driver else disk_contents(spec)
            archive = initramfs(spec, Modules(kernel.modules), contents, guest_texts(spec), kernel.driver)
            memory = memory_bytes(spec, machine, len(archive))
            record["memory"] = {"boot_bytes": memory}
            write_json(staged / EXPERIMENT, record)
            report(None, "booting")
            ended, record["machine"]["queues"] = _boot(request, machine, staged, archive, disks, memory, report, limits)
        return ended

    about = describe(machine) | {"spec": to_table(spec)}
    return recorded(results, request.spec.name, begun(request) | {"machine": about}, make)


def describe(machine: EmulatedMachine) -> dict[str, Any]:
    """Return what a record says of a machine."""
    clock = {"clock": "instructions", "instruction_ns": INSTRUCTION_NS} if machine.virtual else {"clock": "the host's"}
    return {"emulator": EMULATOR, "processors": machine.processors, "accelerator": machine.accelerator} | clock


def _boot(  # noqa: PLR0913, PLR0917
    request: Request,
    machine: EmulatedMachine,
    staged: Path,
    archive: bytes,
    disks: Mapping[int, Disk],
    memory: int,
    report: Report,
    limits: Limits,
) -> tuple[Ended, Queues]:
    """Return how the guest ended, and the queues of its disks. disks: QEMU's own, by their images' descriptors."""
    sizes = [image_bytes(machine.driver, disk.size) for disk in disks.values()]
    for descriptor, size in zip(disks, sizes, strict=True):
        os.ftruncate(descriptor, size)
    with _files(archive) as (left, initial):
        guest = Boot(
            linux=Path(tool_path(EMULATOR) or EMULATOR),
            arguments=arguments(machine, request.kernel.path, memory, [*disks.values()]),
            run=staged,
            scratch=shared_memory() / f"wblab-{secrets.token_hex(6)}",
            disk_fds=(left, initial, *disks),
            limits=replace(
                limits, silence_s=_SLOWER * limits.silence_s, memory_bytes=limits.memory_bytes + _EMULATOR_BYTES
            ),
            sandbox=Sandbox(
                reads=sorted({*DISTRIBUTION, str(request.kernel.path)}),
                largest_file_bytes=max(memory, _MOST_LEFT_BYTES, *sizes),
                calls="",
            ),
            memory_bytes=memory,
            mkfs=(
                Mkfs((), _MOST_LEFT_BYTES, key="results", resident_bytes=_MOST_LEFT_BYTES),
                Mkfs((), len(archive), key="root"),
                *(Mkfs((), disk.size) for disk in disks.values()),  # they have their filesystems
            ),
            one_processor=machine.virtual,
            shared_processor=machine.virtual,
            console_fd=CONSOLE_FD,
        )
        try:
            ended = boot(guest, *progress(request.spec, report))
        except WblabError:
            with suppress(WblabError, OSError):  # what a run that failed has left may say why
                _take_over(left, staged, limits)
            raise
        return ended, _take_over(left, staged, limits)


def _take_over(left: int, staged: Path, limits: Limits) -> Queues:
    most_bytes = min(limits.output_bytes, _MOST_LEFT_BYTES)
    return take_over(os.pread(left, os.fstat(left).st_size, 0), staged, most_bytes)


@contextmanager
def _files(archive: bytes) -> Iterator[tuple[int, int]]:
    """Yield descriptors of a file for the guest's results, and of one with its root, both in memory."""
    with ExitStack() as stack:
        left, initial = (os.memfd_create(name) for name in ("wblab-left", "wblab-initramfs"))
        for descriptor in (left, initial):
            stack.callback(os.close, descriptor)
        with os.fdopen(os.dup(initial), "wb") as file:
            file.write(archive)
        yield left, initial


def _check(spec: Spec, kernel: Kernel) -> None:
    assert isinstance(kernel, StockKernel)
    check_translation(spec, kernel.driver)
    check_programs([EMULATOR])
    if not kernel.driver:
        return
    if spec.clock.mode == "virtual":
        raise InputError(f"{spec.kernel.name}: QEMU's disks keep the host's time: run it with --clock real")
    check_devices(tool_path(EMULATOR) or EMULATOR, kernel.driver)


PLACE = Place(
    "a distribution's kernel in QEMU",
    lambda spec, name: check_translation(spec, parse(name).driver),
    _check,
    run_stock,
)
