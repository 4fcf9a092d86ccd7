"""The guest cannot harm the host, even as root of the guest with every trick that mount(2) allows.

Through hostfs, remounted at the host's root, a guest's kernel passes requests on to the host. These are the attacks of
somebody with root in the guest. tests/unit/host/test_guestrights.py tests a kernel process that was taken over.
"""

import json
import os
import shutil
import stat
import tempfile
from pathlib import Path

import pytest

from wblab.core.errors import WblabError
from wblab.host.sandbox import landlock_version
from wblab.lab import cache
from wblab.lab.formats import EXPERIMENT
from wblab.lab.packages import tool_path

# What an attack finds: the host's files at /mnt/host, its scratch directory, and what a victim is called.
PROLOGUE = """
import json, os, stat, time
from pathlib import Path
from wblab.core import layout
from wblab.core.status import Message
from wblab.core.syscalls import mount, power_off
from wblab.guest import first, mounts

MS_REMOUNT = 32
first.mount_scratch()
mounts.mount_all()
mount("none", "/", "hostfs", MS_REMOUNT)
os.mkdir("/mnt/host")
mount("none", "/mnt/host", "hostfs", 0, "/")
outside, scratch = Path({outside!r}), layout.SCRATCH
anew = Path("/mnt/host" + str(outside))
status = os.open(layout.STATUS_DEVICE, os.O_WRONLY | os.O_NOCTTY)

def say(phase, **detail):
    os.write(status, Message(phase, time.monotonic_ns(), detail).line())

def tried(attempts):
    done = []
    for name, attempt in attempts.items():
        try:
            attempt()
            done.append(name)
        except OSError:
            pass
    return done

def end(result):
    say("failed", reason=json.dumps(result))
    power_off()
"""
pytestmark = pytest.mark.skipif(landlock_version() == 0, reason="the host's kernel has no Landlock")


@pytest.fixture
def victim(tmp_path_factory):
    """Make a directory of the user that no guest may change, with files that are worth stealing."""
    outside = tmp_path_factory.mktemp("outside")
    (outside / ".bashrc").write_text("untouched")
    (outside / "id_ed25519").write_text("secret")
    (outside / "id_ed25519").chmod(0o600)
    (outside / "program").write_text("#!/bin/sh\n")
    (outside / "folder").mkdir()
    before = state(outside)
    yield outside
    assert state(outside) == before


def state(directory):
    """Return everything that can be changed about a directory's files, except for their access times."""
    found = {}
    for path in (directory, *sorted(directory.rglob("*"))):
        status = path.lstat()
        content = path.read_bytes() if stat.S_ISREG(status.st_mode) else b""
        found[str(path)] = (
            *(status.st_mode, status.st_uid, status.st_gid, status.st_nlink, status.st_mtime_ns, status.st_ctime_ns),
            content,
        )
    return found


def attack(lab, guest_program, outside, code):
    """Run a guest that attacks; return the attacks that it reports as successful."""
    guest_program(PROLOGUE.format(outside=str(outside)) + code)
    with pytest.raises(WblabError):  # it never says that an experiment went well
        lab.run("base")
    (staged,) = lab.results.iterdir()
    assert lab.left_behind() == []
    return json.loads(json.loads((staged / EXPERIMENT).read_text())["reason"]), staged


CHANGES = """
def changes(root):
    bashrc, key, program = root / ".bashrc", root / "id_ed25519", root / "program"
    return {
        "write": lambda: bashrc.write_text("changed"),
        "append": lambda: os.write(os.open(bashrc, os.O_WRONLY | os.O_APPEND), b"more"),
        "truncate": lambda: os.truncate(bashrc, 0),
        "create": lambda: bashrc.with_name("new").write_text(""),
        "make directory": lambda: bashrc.with_name("more").mkdir(),
        "remove directory": lambda: bashrc.with_name("folder").rmdir(),
        "symlink": lambda: os.symlink(".bashrc", bashrc.with_name("link")),
        "link": lambda: os.link(bashrc, bashrc.with_name("link")),
        "rename": lambda: bashrc.rename(bashrc.with_name("moved")),
        "delete": lambda: bashrc.unlink(),
        "chmod": lambda: os.chmod(key, 0o644),
        "chmod directory": lambda: os.chmod(root, 0o777),
        "setuid": lambda: os.chmod(program, 0o4755),
        "chown": lambda: os.chown(key, 65534, 65534),
        "utime": lambda: os.utime(bashrc, (0, 0)),
        "xattr": lambda: os.setxattr(bashrc, "user.x", b"1"),
        "device": lambda: os.mknod(bashrc.with_name("disk"), 0o60666, os.makedev(254, 0)),
        "fifo": lambda: os.mkfifo(bashrc.with_name("fifo")),
    }
end([tried(changes(outside)), tried(changes(anew))])
"""


def test_a_guest_cannot_change_the_host(lab, guest_program, victim):
    assert attack(lab, guest_program, victim, CHANGES)[0] == [[], []]


PLANTS = """
result = {"kept": tried({"a file": lambda: (scratch / "load.x.npy").write_text("data")})}
result["planted"] = tried({
    "symlink": lambda: os.symlink(outside / ".bashrc", scratch / "trace.dat"),
    "link": lambda: os.link(anew / ".bashrc", scratch / "load.y.npy"),
    "fifo": lambda: os.mkfifo(scratch / "load.z.npy"),
    "device": lambda: os.mknod(scratch / "load.d.npy", 0o60666, os.makedev(254, 0)),
    "directory": lambda: os.mkdir(scratch / "trace-cmd.log"),
    "another descriptor": lambda: mount("none", "/mnt/host", "hostfs", 0, "/proc/self/fd/10"),
})
os.close(os.open(scratch / "agent.setuid.log", os.O_CREAT | os.O_WRONLY, 0o6755))
for name in ("experiment.json", "console.log", "timeline.png", ".bashrc"):
    (scratch / name).write_text("of the guest")
end(result)
"""


def test_a_guest_cannot_create_links_that_the_host_follows(lab, guest_program, victim):
    """A real attack overwrote ~/.bashrc through a link that the guest had made."""
    result, staged = attack(lab, guest_program, victim, PLANTS)
    assert result == {"kept": ["a file"], "planted": []}
    assert (staged / "load.x.npy").read_text() == "data"
    assert "of the guest" not in (staged / EXPERIMENT).read_text()
    assert (staged / "agent.setuid.log").stat().st_mode & 0o7000 == 0
    kept = ["agent.setuid.log", "console.log", "experiment.json", "kernel.config", "layouts.json", "load.x.npy"]
    assert sorted(os.listdir(staged)) == kept


READS = """
secrets = [anew / "id_ed25519", outside / "id_ed25519", *(Path("/mnt/host", name) for name in (
    "etc/shadow", "etc/passwd", "etc/ssh/ssh_config", "proc/1/environ", "proc/1/cmdline", "proc/self/environ",
    "var/log/dpkg.log", "root/.bashrc"))]
lists = [anew, Path("/mnt/host/home"), Path("/mnt/host/root"), Path("/mnt/host/tmp"), Path("/mnt/host/proc")]
found = tried({str(path): path.read_bytes for path in secrets})
found += tried({f"{path}/": lambda path=path: os.listdir(path) for path in lists})
found += [] if Path("/mnt/host/usr/bin/env").read_bytes()[:4] == b"\\x7fELF" else ["env is not there"]
end(found)
"""


def test_a_guest_can_read_programs_but_no_user_s_files(lab, guest_program, victim):
    assert attack(lab, guest_program, victim, READS)[0] == []


@pytest.fixture
def home(monkeypatch):
    """A home with a private key, and a trace-cmd in ~/bin that guests take. Guests cannot see what is below /tmp."""
    with tempfile.TemporaryDirectory(dir="/var/tmp", prefix="wblab-test-") as name:
        home = Path(name)
        (home / "bin").mkdir()
        (home / "id_ed25519").write_text("secret")
        shutil.copy(str(tool_path("trace-cmd")), home / "bin")
        monkeypatch.setenv("XDG_CACHE_HOME", str(cache.home().parent))
        monkeypatch.setenv("HOME", name)
        monkeypatch.setenv("PATH", f"{name}/bin:{os.environ['PATH']}")
        yield home


def test_a_program_in_a_home_directory_runs_without_exposing_the_home(lab, home, guest_program):
    assert (lab.run("base", "time_limit=400s").path / "trace.dat").exists()
    shutil.rmtree(lab.results)
    reads = """
secrets = [anew / "id_ed25519", outside / "id_ed25519"]
found = tried({str(path): path.read_bytes for path in secrets})
found += tried({f"{path}/": lambda path=path: os.listdir(path) for path in (anew, outside, anew / "bin")})
found += [] if (anew / "bin" / "trace-cmd").read_bytes()[:4] == b"\\x7fELF" else ["trace-cmd is not there"]
end(found)
"""
    assert attack(lab, guest_program, home, reads)[0] == []


def test_a_guest_sees_directories_that_the_user_grants(lab, guest_program, victim):
    guest_program(PROLOGUE.format(outside=str(victim)) + "end((anew / '.bashrc').read_text())")
    with pytest.raises(WblabError, match="untouched"):
        lab.run("base", readable=[str(victim)])


def refused(lab, guest_program, code, **limits):
    """Run a guest that exceeds a limit; return the reason for its end, after the checks common to all such ends."""
    guest_program(PROLOGUE.format(outside="/nonexistent") + code)
    with pytest.raises(WblabError) as raised:
        lab.run("base", **limits)
    (staged,) = lab.results.iterdir()
    record = json.loads((staged / EXPERIMENT).read_text())
    assert record["outcome"] == "failed"
    assert record["reason"] in str(raised.value)
    assert lab.left_behind() == []
    assert sum(path.stat().st_size for path in staged.iterdir()) < 200 << 20
    return record["reason"]


TALKS = """
while True: say("loads")
"""
ONE_LINE = """
while True: os.write(status, b"x" * 4096)
"""
FILLS = """
with open(scratch / "trace.dat", "wb", buffering=0) as file:
    while True:
        file.write(b"x" * (1 << 20)); say("loads")
"""
UNLINKED = """
with open(scratch / "trace.dat", "wb", buffering=0) as file:
    os.unlink(scratch / "trace.dat")
    while True:
        try:
            file.write(b"x" * (1 << 20)); say("loads")
        except OSError:  # as large as a file may be before anybody looked: it keeps that until somebody does
            say("loads")
"""
MANY = """
for number in range(100000):
    (scratch / "left" / f"{number}").touch(); say("loads")
"""
DEEP = """
os.chdir(scratch / "left")
while True:
    os.mkdir("d"); os.chdir("d")
"""
PRINTS = """
console = os.open("/dev/console", os.O_WRONLY | os.O_NOCTTY)
while True:
    os.write(console, b"x" * 4000 + b"\\n")
"""


@pytest.mark.parametrize(
    ("code", "limits", "reason"),
    [
        (TALKS, {"said_bytes": 1 << 18}, "256 KiB of messages"),
        (ONE_LINE, {}, "an invalid message: a line of more than 65536 bytes"),
        (FILLS, {"output_bytes": 2 << 20}, "more than 2 MiB or 1000 files"),
        (UNLINKED, {"memory_bytes": 64 << 20}, "its processes took more than 64 MiB of memory"),
        (MANY, {}, "1000 files"),
        (DEEP, {}, "the guest"),
        (PRINTS, {"console_bytes": 1 << 20}, "its console printed more than 1 MiB"),
        (TALKS, {"wall_s": 1.0}, "longer than 1 s"),
    ],
)
def test_a_guest_over_a_resource_limit_is_killed(lab, guest_program, code, limits, reason):
    assert reason in refused(lab, guest_program, code, **limits)
