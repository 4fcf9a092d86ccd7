"""Disks that are used before the run: aged once, by a guest of their own, and kept in the cache.

What lies on such a disk follows from how its filesystem was made, from the kernel, and from how it is aged. A digest of
that is its name; made anew, its bytes are the same when time is virtual.
"""

import json
import secrets
import tempfile
from dataclasses import asdict, replace
from hashlib import sha256
from pathlib import Path

from wblab.core import freespace, layout
from wblab.core.errors import WblabError
from wblab.core.files import open_file
from wblab.core.spec import DISK, Disk, Spec
from wblab.core.tables import to_table
from wblab.core.units import Bytes, BytesPerSecond
from wblab.host.command import interpreter, kernel_arguments
from wblab.host.disks import holes
from wblab.host.disks.disk import made_disk
from wblab.host.disks.mkfs import Mkfs
from wblab.host.guestmemory import boot_bytes
from wblab.host.installation import guest_sandbox
from wblab.host.machine import shared_memory, tool_versions
from wblab.host.process.boot import Boot, boot
from wblab.kernels import Kernel, facts, features
from wblab.lab import cache
from wblab.lab.held import replace_file
from wblab.lab.progress import Report

_ROOM = "disks"  # in the cache
# Of the guest, for five million holes: the extents of the file, which XFS has in memory and half empty on the disk.
_MEMORY = {"ext4": Bytes(768 << 20), "xfs": Bytes(3 << 30)}
_MOST_BYTES = 4 << 30  # that the disk may take of memory meanwhile
_FAST = BytesPerSecond(1 << 40)
# ext4 then writes no journal, of which nothing but what it held would stay: half a GiB at 64 GiB.
_MOUNT = {"ext4": ("noload",)}
_PROGRAMS = (Path(freespace.__file__), Path(freespace.__file__).parents[1] / "guest" / "aging.py")


def provision(  # noqa: PLR0913 - three of them by name
    spec: Spec, disk: Disk, mkfs: Mkfs, disk_fd: int, *, kernel: Kernel, program: Path, report: Report
) -> Mkfs:
    """Fill a disk of a run with what it holds before that, aged; return what is left to be done. Raises WblabError.

    program: the guest's. report: is called again and again while the disk is aged, which is once.
    """
    path = cache.room(_ROOM) / f"{_digest(spec, disk, mkfs, kernel)}.img"
    if not path.exists():
        with cache.locked(path.with_suffix(".lock"), lambda: report(None, "waiting while another run ages the disk")):
            if not path.exists():
                _make(spec, disk, mkfs, path, kernel=kernel, program=program, report=report)
    try:
        with open_file(path) as image:
            holes.copy(image.fileno(), disk_fd)
    except OSError as error:
        raise WblabError(f"cannot copy {path}: {error.strerror}; remove it") from None
    return replace(mkfs, command=())


def _digest(spec: Spec, disk: Disk, mkfs: Mkfs, kernel: Kernel) -> str:
    """Return the name of a disk's content: no more than 168 of one seed are asked for by Chopper."""
    made = {**asdict(mkfs), "resident_bytes": 0, "key": ""}
    how = (disk.used, disk.layout, spec.clock.mode, kernel.build_id, [facts.sha256(path) for path in _PROGRAMS])
    return sha256(json.dumps([made, tool_versions(), how], sort_keys=True).encode()).hexdigest()[:32]


def _make(  # noqa: PLR0913
    spec: Spec, disk: Disk, mkfs: Mkfs, path: Path, *, kernel: Kernel, program: Path, report: Report
) -> None:
    most = Bytes(min(disk.size, _MOST_BYTES))
    plain = Disk(
        size=disk.size,
        resident=most,
        filesystem=disk.filesystem,
        mount_options=_MOUNT.get(disk.filesystem, ()),
        used=disk.used,
        layout=disk.layout,
        write_bps=_FAST,
    )
    aging = Spec(name="", memory=_MEMORY[disk.filesystem], clock=spec.clock, disk={DISK: plain}, load={})
    by_ptrace, largest = "seccomp" not in features(kernel), max(disk.size, boot_bytes(aging))
    sandbox = guest_sandbox([interpreter()], (), None, by_ptrace=by_ptrace, largest_file_bytes=largest)

    def heard(*_: object) -> None:
        report(None, "aging the disk, once: the result is cached")

    try:
        with tempfile.TemporaryDirectory(prefix="wblab-") as work, made_disk(disk.size) as disk_fd:
            request = Boot(
                linux=kernel.path,
                arguments=kernel_arguments(aging),
                run=Path(work),
                scratch=shared_memory() / f"wblab-{secrets.token_hex(6)}",
                disk_fds=[disk_fd],
                sandbox=sandbox,
                memory_bytes=boot_bytes(aging),
                mkfs=[replace(mkfs, resident_bytes=most)],
                program=program,
                texts={layout.PARAMETERS: json.dumps({"spec": to_table(aging), "age": True})},
                one_processor=spec.clock.mode == "virtual",
            )
            boot(request, heard, heard)
            with replace_file(path) as file:
                holes.copy(disk_fd, file.fileno())
    except OSError as error:
        raise WblabError(f"cannot store {path}: {error.strerror}: free some space") from None
