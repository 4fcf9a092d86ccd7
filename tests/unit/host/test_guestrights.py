"""The rights of a guest's kernel that was taken over: a process in the real sandbox attacks the host."""

import ctypes
import os
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from wblab.core.child import fork_child
from wblab.core.syscalls import libc
from wblab.host.command import interpreter
from wblab.host.guestlab import GuestLab
from wblab.host.installation import guest_sandbox
from wblab.host.sandbox import DISTRIBUTION, landlock_version

pytestmark = pytest.mark.skipif(landlock_version() == 0, reason="the host's kernel has no Landlock")
SIGNALS = pytest.mark.skipif(landlock_version() < 6, reason="the host's Landlock does not know signals")


def sandbox(*more):
    return guest_sandbox([interpreter()], more, None, by_ptrace=False, largest_file_bytes=1 << 20)


def succeeds(action, *more):
    """Return whether an action succeeds in the sandbox."""

    def task():
        sandbox(*more).enter()
        try:
            done = action()
        except OSError:
            os._exit(1)
        os._exit(1 if done == -1 else 0)

    return os.waitpid(fork_child(task), 0)[1] == 0


def overwrites(path):
    return lambda: os.close(os.open(path, os.O_WRONLY | os.O_CREAT))


@pytest.fixture
def other():
    with subprocess.Popen(["sleep", "60"]) as process:
        yield process.pid
        assert process.poll() is None
        process.kill()


def test_the_user_s_files_can_be_neither_read_nor_changed(tmp_path):
    key = tmp_path / "id_ed25519"
    key.write_text("secret")
    for action in (
        key.read_bytes,
        overwrites(key),
        overwrites(tmp_path / "authorized_keys"),
        lambda: os.listdir(tmp_path),
        lambda: key.chmod(0o644),
        lambda: os.utime(key),
        key.unlink,
        lambda: key.rename(tmp_path / "moved"),
        (tmp_path / "folder").mkdir,
        lambda: os.truncate(key, 0),
    ):
        assert not succeeds(action)
    assert key.read_text() == "secret"
    assert os.listdir(tmp_path) == ["id_ed25519"]
    assert succeeds(key.read_bytes, str(tmp_path))


@pytest.mark.parametrize(
    "path", ["/dev/shm/wblab-test-x", "/tmp/wblab-test-x", "/var/tmp/x", "/proc/self/oom_score_adj"]
)
def test_nothing_can_be_written_elsewhere(path):
    assert not succeeds(overwrites(path))


def test_no_other_process_can_be_inspected(other):
    assert not succeeds(lambda: libc.ptrace(16, other, None, None))  # PTRACE_ATTACH
    assert not succeeds(lambda: os.setpriority(os.PRIO_PROCESS, other, 19))
    assert not succeeds(lambda: os.sched_setaffinity(other, {0}))
    assert not succeeds(lambda: libc.syscall(302, other, 7, ctypes.c_void_p(0), ctypes.c_void_p(0)))  # prlimit64
    assert not succeeds(lambda: libc.syscall(434, other, 0))  # pidfd_open
    for name in ("mem", "environ", "maps", "fd", "cwd/"):
        assert not succeeds(lambda name=name: os.open(f"/proc/{other}/{name}", os.O_RDONLY))


@SIGNALS
def test_no_other_process_can_be_signalled(other):
    for number in (0, signal.SIGKILL, signal.SIGSTOP):
        assert not succeeds(lambda number=number: os.kill(other, number))
    assert not succeeds(lambda: os.kill(os.getppid(), 0))


@pytest.mark.parametrize("family", [socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK])
def test_sockets_cannot_be_opened(family):
    assert not succeeds(lambda: socket.socket(family, socket.SOCK_DGRAM))


@pytest.mark.parametrize("kind", [socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET])
def test_named_sockets_cannot_be_reached(tmp_path, kind):
    """A real attack: one of a pair of datagram sockets wrote into a socket of the host, such as syslog's."""
    path = str(tmp_path / "log")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as victim:
        victim.bind(path)
        victim.setblocking(False)

        def sends():
            near, _ = socket.socketpair(socket.AF_UNIX, kind)
            near.sendmsg([b"forged"], [], 0, path)

        assert not succeeds(sends)
        with pytest.raises(BlockingIOError):
            victim.recv(100)


def test_no_program_can_be_executed():
    assert not succeeds(lambda: os.execv("/bin/sh", ["sh", "-c", "exit 0"]))
    assert not succeeds(lambda: os.execv(sys.executable, [sys.executable, "-c", ""]))


def test_no_namespace_can_be_created():
    assert not succeeds(lambda: libc.unshare(0x10000000))  # CLONE_NEWUSER
    assert not succeeds(lambda: libc.syscall(56, 0x10000011, None, None, None, None))


def test_no_input_can_be_injected_into_a_terminal():
    near, far = os.openpty()
    typed = ctypes.create_string_buffer(b"x")
    assert not succeeds(lambda: libc.ioctl(far, 0x5412, typed))  # TIOCSTI
    os.close(near)
    os.close(far)


def test_programs_of_the_distribution_can_be_read():
    assert succeeds(lambda: Path(interpreter()).read_bytes())
    assert succeeds(lambda: os.listdir("/usr/bin"))
    assert succeeds(Path("/proc/cpuinfo").read_bytes)
    assert not succeeds(lambda: Path("/etc/passwd").read_bytes())


def test_files_of_the_lab_s_programs_are_granted_individually(tmp_path):
    packages, python = tmp_path / "venv" / "packages", tmp_path / "opt" / "python" / "bin" / "python3"
    modules = tmp_path / "opt" / "python" / "lib" / "python3.11"
    modules.mkdir(parents=True)
    python.parent.mkdir(parents=True)
    python.write_text(f"#!/bin/sh\necho '[\"{modules}\"]'\n")
    python.chmod(0o755)
    lab = GuestLab(python, tmp_path / "lab", "", packages)
    granted = guest_sandbox(["/usr/bin/env"], (), lab, by_ptrace=True, largest_file_bytes=1)
    assert {str(python), str(modules), str(lab.modules), str(packages), *DISTRIBUTION} <= set(granted.reads)
    around = (tmp_path, tmp_path / "opt", tmp_path / "opt" / "python", python.parent, modules.parent, Path.home())
    assert not {"/", *map(str, around)} & set(granted.reads)
    assert granted.calls == "kernel with ptrace"


@pytest.mark.parametrize("directory", ["bin", ".local/bin"])
def test_a_program_in_a_home_directory_does_not_expose_the_home(tmp_path, monkeypatch, directory):
    """A real attack: with trace-cmd in ~/bin, a guest read ~/.ssh."""
    home = tmp_path / "home"
    program = home / directory / "trace-cmd"
    key = program.parents[1] / "share" / "id_ed25519"
    for path in (key, program):
        path.parent.mkdir(parents=True)
    key.write_text("secret")
    shutil.copy("/usr/bin/env", program)
    monkeypatch.setenv("HOME", str(home))

    def reads(path):
        def task():
            guest_sandbox([str(program)], (), None, by_ptrace=False, largest_file_bytes=1).enter()
            os._exit(0 if path.read_bytes() else 1)

        return os.waitpid(fork_child(task), 0)[1] == 0

    assert reads(program)
    assert not reads(key)
