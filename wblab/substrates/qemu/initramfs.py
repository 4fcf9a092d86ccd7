"""The guest's root: Python, the lab's program, modules, and the disks' first contents, in one archive."""

import os
import stat
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path

from wblab.core.spec import Spec
from wblab.host.bundle import bundle
from wblab.host.command import interpreter
from wblab.kernels.cache import room
from wblab.kernels.stock.modules import Modules
from wblab.lab.tools import tool_path
from wblab.substrates.qemu import cpio, programs
from wblab.substrates.qemu.programs import files_of, python_files

_ALWAYS = ("configfs", "null_blk")
_FILESYSTEMS = {"ext2": "ext4", "ext3": "ext4", "none": ""}
_SCHEDULERS = {"kyber": "kyber_iosched", "mq-deadline": "mq_deadline", "none": ""}
_DIRECTORIES = ("/dev", "/mnt", "/proc", "/run", "/sys", "/tmp")
PACKAGES = ("wblab/substrates/qemu/guest",)
PROGRAM = "/wblab/experiment.pyz"


def initramfs(spec: Spec, modules: Modules, contents: Iterable[bytes], texts: Mapping[str, str]) -> bytes:
    """Return the archive for one run. contents: of each disk. texts: what the guest must know. Raises WblabError."""
    own = [cpio.regular(f"/wblab/texts/{name}", text.encode()) for name, text in texts.items()]
    own += [cpio.regular(f"/wblab/disks/{place}", data) for place, data in enumerate(contents)]
    tracer = tool_path("trace-cmd") if spec.trace.events else None
    return _common(spec, modules, tracer) + cpio.archive(own)


def _common(spec: Spec, modules: Modules, tracer: str | None) -> bytes:
    """Return the part that runs share, from the cache if it was made before."""
    names = [*module_names(spec), *(name for name in _traced(spec) if name in modules.files)]
    program = program_file()
    changed = [path.stat().st_mtime_ns for path in (modules.directory, *map(Path, filter(None, [tracer])))]
    about = f"{program} {modules.directory} {names} {tracer} {changed} {_own_sha256()}"
    kept = room("initramfs") / f"{sha256(about.encode()).hexdigest()[:32]}.cpio"
    if not kept.exists():
        partial = kept.with_name(f"{kept.name}.{os.getpid()}")
        partial.write_bytes(_made(names, modules, program, tracer))
        partial.replace(kept)
    return kept.read_bytes()


def program_file() -> Path:
    """Return the guest's program as one file."""
    return bundle(interpreter(), main="wblab/substrates/qemu/guest/main.py", more=PACKAGES)


def module_names(spec: Spec) -> list[str]:
    """Return the modules that a spec needs, if they are not built in."""
    filesystems = [_FILESYSTEMS.get(disk.filesystem, disk.filesystem) for disk in spec.disk.values()]
    schedulers = ["mq_deadline", *(_SCHEDULERS.get(disk.scheduler, disk.scheduler) for disk in spec.disk.values())]
    return [name for name in dict.fromkeys([*_ALWAYS, *schedulers, *filesystems]) if name]


def _traced(spec: Spec) -> list[str]:
    """Return the systems of traced events: that of a filesystem's events is named like its module."""
    return list(dict.fromkeys(event.partition(":")[0] for event in spec.trace.events))


def _made(names: Iterable[str], modules: Modules, program: Path, tracer: str | None) -> bytes:
    python = interpreter()
    paths = files_of([python, *filter(None, [tracer])]) | python_files(
        python, program, ["wblab.substrates.qemu.guest.main"]
    )
    entries = [cpio.Entry(path, stat.S_IFDIR | 0o755) for path in _DIRECTORIES]
    entries.append(cpio.Entry("/dev/console", stat.S_IFCHR | 0o600, device=(5, 1)))
    for path in sorted(paths):
        entries.append(cpio.regular(path, Path(path).read_bytes(), executable=os.access(path, os.X_OK)))
    entries.append(cpio.regular(PROGRAM, program.read_bytes()))
    for number, (name, data) in enumerate(modules.ordered(names).items()):
        entries.append(cpio.regular(f"/wblab/modules/{number:02d}-{name}.ko", data))
    return cpio.archive(entries)


def _own_sha256() -> str:
    ours = (__file__, cpio.__file__, programs.__file__)
    return sha256(b"".join(Path(file).read_bytes() for file in ours)).hexdigest()
