"""An observer in the guest: it logs what programs can see, beyond loads and trace, in agent.witness.log."""

from pathlib import Path

from wblab.analysis.runs.run import Run

from .edits import Edit, apply

LOG = "agent.witness.log"
_CODE = f'''
try:  # not hashlib, with which OpenSSL reads its configuration, if it may
    from _sha2 import sha256
except ImportError:  # before Python 3.12
    from _sha256 import sha256
import sys

from wblab.core import entry

def witness(spec: Spec) -> None:
    """Write down all that programs of the guest may see and that could be the host's."""
    files = ("self/maps", "meminfo", "vmstat", "buddyinfo", "sys/kernel/random/boot_id")
    seen = [Path("/proc", name).read_text() for name in files]
    disk = os.stat(layout.DISK)
    chance = (os.urandom(16).hex(), "hash %d" % hash("x"), id(witness))
    times = (time.time_ns(), time.tzname, disk.st_mtime_ns)
    surroundings = (sorted(os.environ.items()), sorted(sys.modules), sys.path, os.statvfs(layout.DISK).f_fsid)
    content = []
    if spec.disk["disk"].filesystem != "xfs":  # mkfs makes a new one each time before xfsprogs 6.18
        os.sync()
        content = [sha256(layout.DISK_DEVICE.read_bytes()).hexdigest()]
    told = (layout.SCRATCH / name for name in (entry.PROGRAM, layout.PARAMETERS))
    content += [sha256(path.read_bytes()).hexdigest() for path in told]
    seen += map(str, (*chance, *times, *surroundings, *content))
    (layout.SCRATCH / "{LOG}").write_text("\\n".join(seen))


def write_loads('''
_CALL = "        write_loads(layout.SCRATCH, running)\n"
_EDITS = (
    Edit("wblab/guest/init.py", "\ndef write_loads(", _CODE),
    Edit("wblab/guest/init.py", _CALL, f"{_CALL}        witness(spec)\n"),
)


def plant_witness(lab: Path) -> None:
    """Add it to a copy of the lab."""
    apply(lab, _EDITS)


def testimony(run: Run) -> list[str]:
    return (run.path / LOG).read_text().splitlines()


def a_hash(run: Run) -> str:
    """Return the hash of a word."""
    (line,) = (line for line in testimony(run) if line.startswith("hash "))
    return line
