"""One experiment on a stock kernel in QEMU: from a request to a finished run directory."""

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from wblab.core.errors import WblabError
from wblab.core.tables import to_table
from wblab.host.boot import Boot, Ended, boot
from wblab.host.check import EMULATOR
from wblab.host.limits import Limits
from wblab.host.machine import shared_memory
from wblab.host.mkfs import Mkfs
from wblab.host.recorded import Finished, recorded
from wblab.host.request import Request
from wblab.host.run import begun, guest_texts, progress
from wblab.host.sandbox import DISTRIBUTION, Sandbox
from wblab.host.translate import translated
from wblab.kernels.stock.kernel import StockKernel
from wblab.kernels.stock.modules import Modules
from wblab.lab.formats import CONFIG, EXPERIMENT, write_json
from wblab.lab.progress import Report, silent
from wblab.lab.tools import tool_path
from wblab.substrates.qemu.command import CONSOLE_FD, Machine, arguments, memory_bytes
from wblab.substrates.qemu.image import disk_contents
from wblab.substrates.qemu.initramfs import initramfs
from wblab.substrates.qemu.left import take_over

_LIMITS = Limits()
_SLOWER = 3  # an emulated machine takes seconds until its first word, and more beside other work
_MOST_LEFT_BYTES = 256 << 20
_EMULATOR_BYTES = 512 << 20  # for what it has translated


def run_stock(request: Request, results: Path, *, report: Report = silent, limits: Limits = _LIMITS) -> Finished:
    """Run a request on a stock kernel, and keep what it leaves in a new directory below `results`.

    Raises RunFailedError, InputError.
    """
    kernel, spec = request.kernel, translated(request.traced)
    assert isinstance(kernel, StockKernel)
    machine = Machine(kernel.processors, "tcg", spec.clock.mode == "virtual")

    def make(staged: Path, record: dict[str, Any]) -> Ended:
        if kernel.config:
            shutil.copyfile(kernel.config, staged / CONFIG)
        report(None, "making the guest's disks")
        archive = initramfs(spec, Modules(kernel.modules), disk_contents(spec), guest_texts(spec))
        memory = memory_bytes(spec, machine, len(archive))
        record["memory"] = {"boot_bytes": memory}
        write_json(staged / EXPERIMENT, record)
        report(None, "booting")
        return _boot(request, machine, staged, archive, memory, report, limits)

    about = describe(machine) | {"spec": to_table(spec)}
    return recorded(results, request.spec.name, begun(request) | {"machine": about}, make)


def describe(machine: Machine) -> dict[str, Any]:
    """Return what a record says of a machine."""
    clock = "instructions" if machine.virtual else "the host's"
    return {"emulator": EMULATOR, "processors": machine.processors, "accelerator": machine.accelerator, "clock": clock}


def _boot(  # noqa: PLR0913, PLR0917
    request: Request, machine: Machine, staged: Path, archive: bytes, memory: int, report: Report, limits: Limits
) -> Ended:
    with _files(archive) as (left, initial):
        guest = Boot(
            linux=Path(tool_path(EMULATOR) or EMULATOR),
            arguments=arguments(machine, request.kernel.path, memory),
            run=staged,
            scratch=shared_memory() / f"wblab-{secrets.token_hex(6)}",
            disk_fds=(left, initial),
            limits=replace(
                limits, silence_s=_SLOWER * limits.silence_s, memory_bytes=limits.memory_bytes + _EMULATOR_BYTES
            ),
            sandbox=Sandbox(
                reads=sorted({*DISTRIBUTION, str(request.kernel.path)}),
                largest_file_bytes=max(memory, _MOST_LEFT_BYTES),
                calls="",
            ),
            memory_bytes=memory,
            mkfs=(Mkfs((), _MOST_LEFT_BYTES, key="results", resident_bytes=_MOST_LEFT_BYTES),),
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
        _take_over(left, staged, limits)
    return ended


def _take_over(left: int, staged: Path, limits: Limits) -> None:
    most_bytes = min(limits.output_bytes, _MOST_LEFT_BYTES)
    take_over(os.pread(left, os.fstat(left).st_size, 0), staged, most_bytes)


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
