"""The guest's root: Python, the lab's program, modules, and the disks' first contents, in one archive."""

import json
import os
import re
import stat
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path, PurePosixPath

from wblab.core.errors import WblabError
from wblab.core.spec import Spec
from wblab.host.bundle import bundle
from wblab.host.command import interpreter
from wblab.host.sandbox.sandbox import loader
from wblab.kernels.stock.drivers import MODULES_OF
from wblab.kernels.stock.modules import Modules
from wblab.lab.cache import room
from wblab.lab.packages import tool_path

# What programs need to run on their own: their loader, libraries, and Python's modules in machine code.

# Which modules of the standard library are in files of their own, and where Python looks for its library.
_ASK = """
import sys
sys.path.insert(0, sys.argv[1])
import json, os, importlib
for name in sys.argv[2:]:
    importlib.import_module(name)
from wblab.core.streams import phase_stream
phase_stream(1, "load")  # since Python 3.13 what hashes the text is imported only then
files = [getattr(module, "__file__", None) or "" for module in list(sys.modules.values())]
print(json.dumps([sorted(file for file in files if file.endswith(".so")), sys._stdlib_dir]))
"""
_NEEDED = re.compile(r"^\s*(?:\S+ => )?(/\S+) \(0x", re.MULTILINE)


def files_of(programs: Iterable[str]) -> set[str]:
    """Return the paths that these programs or libraries map when they start. Raises WblabError."""
    found: set[str] = set()
    for program in programs:
        found.add(program)
        if (interpreter := loader(program)) is not None:
            found |= {interpreter, *_libraries(interpreter, program)}
    return found


def _libraries(interpreter: str, program: str) -> list[str]:
    done = subprocess.run([interpreter, "--list", program], capture_output=True, text=True, check=False)
    if done.returncode:
        raise WblabError(f"cannot tell which libraries {program} needs: {done.stderr.strip()}")
    return _NEEDED.findall(done.stdout)


def python_files(interpreter: str, program: Path, modules: Iterable[str]) -> set[str]:
    """Return what Python maps besides when it imports these modules of a program. Raises WblabError."""
    command = [interpreter, "-I", "-S", "-B", "-c", _ASK, str(program), *modules]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={})
    if done.returncode:
        said = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise WblabError(f"{interpreter} cannot run the guest's program: {said}")
    extensions, library = json.loads(done.stdout)
    start = loader(interpreter)
    needed = {path for each in extensions for path in (_libraries(start, each) if start else ())}
    # By this file Python finds the place of its library, and so that of the extensions.
    return {*extensions, *needed, os.path.join(library, "os.py")}


# An archive of files as the kernel unpacks it at boot (Documentation/driver-api/early-userspace/buffer-format.rst).

_END = "TRAILER!!!"


@dataclass(frozen=True)
class ArchivedFile:
    """A file of the archive. path: absolute. mode: with the type. device: major and minor of a device node."""

    path: str
    mode: int
    data: bytes = b""
    device: tuple[int, int] = (0, 0)


def regular(path: str, data: bytes, *, executable: bool = False) -> ArchivedFile:
    """Return a regular file."""
    return ArchivedFile(path, stat.S_IFREG | (0o755 if executable else 0o644), data)


def link(path: str, target: str) -> ArchivedFile:
    """Return a symbolic link."""
    return ArchivedFile(path, stat.S_IFLNK | 0o777, target.encode())


def archive(entries: Iterable[ArchivedFile]) -> bytes:
    """Return the archive, with all directories on the way: the same bytes for the same entries."""
    parts: list[bytes] = []
    for number, entry in enumerate((*_with_directories(entries), ArchivedFile(_END, 0)), 1):
        parts += _record(entry, number if entry.path != _END else 0)
    return b"".join(parts)


def _with_directories(entries: Iterable[ArchivedFile]) -> Iterator[ArchivedFile]:
    made: set[str] = {"/"}
    for entry in entries:
        for parent in reversed(PurePosixPath(entry.path).parents):
            if str(parent) not in made:
                made.add(str(parent))
                yield ArchivedFile(str(parent), stat.S_IFDIR | 0o755)
        if entry.path not in made:
            made.add(entry.path)
            yield entry


def _record(entry: ArchivedFile, inode: int) -> Iterator[bytes]:
    name = entry.path.lstrip("/").encode() + b"\0"
    links = 2 if stat.S_ISDIR(entry.mode) else 1
    major, minor = entry.device
    fields = (inode, entry.mode, 0, 0, links, 0, len(entry.data), 0, 0, major, minor, len(name), 0)
    head = b"070701" + b"".join(f"{field:08x}".encode() for field in fields) + name
    yield head + bytes(-len(head) % 4)
    yield entry.data + bytes(-len(entry.data) % 4)


_IN_MEMORY = ("configfs", "null_blk")  # what makes disks without a driver
_FILESYSTEMS = {"ext2": "ext4", "ext3": "ext4", "none": "", "swap": ""}
_SCHEDULERS = {"kyber": "kyber_iosched", "mq-deadline": "mq_deadline", "none": ""}
_MODELS = {"loop": ("loop",), "crypt": ("dm_crypt", "crypto_null", "ecb", "xts", "aes"), "zram": ("zram",)}
_DIRECTORIES = ("/dev", "/mnt", "/proc", "/run", "/sys", "/tmp")
PACKAGES = ("wblab/substrates/qemu/guest",)
PROGRAM = "/wblab/experiment.pyz"


def initramfs(
    spec: Spec, modules: Modules, contents: Iterable[bytes], texts: Mapping[str, str], driver: str = ""
) -> bytes:
    """Return the archive for one run. Raises WblabError.

    contents: of each disk that the guest makes in its memory. texts: what it must know. driver: of its other disks.
    """
    own = [regular(f"/wblab/texts/{name}", text.encode()) for name, text in texts.items()]
    own += [regular(f"/wblab/disks/{place}", data) for place, data in enumerate(contents)]
    tracer = tool_path("trace-cmd") if spec.trace.events else None
    return _common(module_names(spec, driver), spec, modules, tracer) + archive(own)


def _common(needed: Sequence[str], spec: Spec, modules: Modules, tracer: str | None) -> bytes:
    """Return the part that runs share, from the cache if it was made before."""
    names = [*needed, *(name for name in _traced(spec) if name in modules.files)]
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


def module_names(spec: Spec, driver: str = "") -> list[str]:
    """Return the modules that a spec needs, if they are not built in. driver: of its disks."""
    always = MODULES_OF[driver] if driver else _IN_MEMORY
    filesystems = [_FILESYSTEMS.get(disk.filesystem, disk.filesystem) for disk in spec.disk.values()]
    schedulers = ["mq_deadline", *(_SCHEDULERS.get(disk.elevator, disk.elevator) for disk in spec.disk.values())]
    models = [name for disk in spec.disk.values() for name in _MODELS.get(disk.model, ())]
    return [name for name in dict.fromkeys([*always, *schedulers, *filesystems, *models]) if name]


def _traced(spec: Spec) -> list[str]:
    """Return the systems of traced events: that of a filesystem's events is named like its module."""
    return list(dict.fromkeys(event.partition(":")[0] for event in spec.trace.events))


def _made(names: Iterable[str], modules: Modules, program: Path, tracer: str | None) -> bytes:
    python = interpreter()
    paths = files_of([python, *filter(None, [tracer])]) | python_files(
        python, program, ["wblab.substrates.qemu.guest.main"]
    )
    entries = [ArchivedFile(path, stat.S_IFDIR | 0o755) for path in _DIRECTORIES]
    entries.append(ArchivedFile("/dev/console", stat.S_IFCHR | 0o600, device=(5, 1)))
    for path in sorted(paths):
        entries.append(regular(path, Path(path).read_bytes(), executable=os.access(path, os.X_OK)))
    entries.append(regular(PROGRAM, program.read_bytes()))
    for number, (name, data) in enumerate(modules.ordered(names).items()):
        entries.append(regular(f"/wblab/modules/{number:02d}-{name}.ko", data))
    return archive(entries)


def _own_sha256() -> str:
    ours = (__file__, __file__, __file__)
    return sha256(b"".join(Path(file).read_bytes() for file in ours)).hexdigest()
