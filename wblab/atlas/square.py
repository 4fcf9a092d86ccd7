"""One square of the atlas: a work's claims on one kernel and one filesystem."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from wblab.claims.base import Claim
from wblab.claims.cases import CASES, case_spec
from wblab.claims.registry import WORKS
from wblab.claims.runs import Jobs
from wblab.core.check import MIN_DISK
from wblab.core.errors import InputError
from wblab.core.spec import Disk, Filesystem, Spec
from wblab.core.stacks import images, top
from wblab.core.syscalls import MOUNT_FLAGS
from wblab.core.tables import to_table
from wblab.core.units import Bytes
from wblab.host.bundle import program_sha256
from wblab.host.command import interpreter
from wblab.host.request import ready
from wblab.kernels import Kernel, Shelf
from wblab.lab.places import ROOT

FILESYSTEMS: tuple[Filesystem, ...] = ("ext4", "ext2", "xfs", "btrfs", "f2fs")
# What decides a verdict beside the run: rooms whose files are looked at.
_JUDGES = ("claims", "data", "why", "layers")


@dataclass(frozen=True)
class Square:
    """Which work's claims, on which kernel's series and which filesystem."""

    series: str
    filesystem: Filesystem
    work: str

    @property
    def name(self) -> str:
        """What its directory is called."""
        return f"{self.series}_{self.filesystem}_{self.work}"


@dataclass(frozen=True)
class Plan:
    """What a square needs: its claims, `seeds` runs of each case; the cases that cannot be, and why.

    made_of: what decides all that comes out, in short.
    """

    square: Square
    kernel: Kernel
    claims: Sequence[Claim]
    seeds: int
    wanted: Jobs
    impossible: Mapping[str, str]
    made_of: str


def on_filesystem(spec: Spec, filesystem: Filesystem) -> Spec:
    """Return a spec with this filesystem on each disk that has one; what it lies on is made larger where it must be.

    Options of another filesystem go; those that every one has, such as sync, stay.
    """
    disks = {name: _on(disk, filesystem) for name, disk in spec.disk.items()}
    for name in images(spec):
        if disks[above := top(spec, name)] != spec.disk[above]:
            disks[name] = replace(disks[name], size=max(disks[name].size, Bytes(MIN_DISK[filesystem])))
    return replace(spec, disk=disks)


def planned(square: Square, seeds: int, shelf: Shelf) -> Plan:
    """Return what a square needs. Raises InputError for a kernel that is not there."""
    kernel, claims = shelf(square.series), WORKS[square.work].claims
    wanted, impossible = [], {}
    for case in dict.fromkeys(case for claim in claims for case in claim.cases):
        try:
            for seed in range(1, min(seeds, CASES[case].most_seeds) + 1):
                spec = on_filesystem(case_spec(case, seed, square.series), square.filesystem)
                wanted.append((case, ready(spec, shelf)))
        except InputError as error:
            impossible[case] = f"the case {case} cannot be on {square.filesystem}: {error}"
            wanted = [job for job in wanted if job[0] != case]
    wanted.sort(key=lambda job: job[1].spec.clock.mode == "real")  # last, as each has the machine to itself
    specs = [[case, to_table(request.spec)] for case, request in wanted]
    told = [kernel.build_id, program_sha256(interpreter()), _judging(), impossible, specs]
    return Plan(square, kernel, claims, seeds, wanted, impossible, _sha256(json.dumps(told).encode()))


def _on(disk: Disk, filesystem: Filesystem) -> Disk:
    if disk.filesystem in ("none", filesystem):
        return disk
    common = tuple(option for option in disk.mount_options if option in MOUNT_FLAGS)
    return replace(disk, filesystem=filesystem, mkfs_options=(), mount_options=common)


def _judging() -> str:
    paths = (path for room in _JUDGES for path in sorted((ROOT / "wblab" / room).rglob("*.py")))
    return _sha256(b"".join(path.read_bytes() for path in paths))


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
