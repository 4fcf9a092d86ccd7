import os
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from wblab.core.errors import WblabError
from wblab.core.status import Message
from wblab.host.boot import Boot, Ended, boot

# What a guest's script can use, in place of a kernel: its words to the host, and its run directory.
PRELUDE = """
import json, os, signal, subprocess, sys, time
RUN, SCRATCH = (os.readlink(f"/proc/self/fd/{number}") for number in (10, 11))
def say(phase, guest_ns=0, **detail):
    os.write(13, json.dumps({"phase": phase, "guest_ns": guest_ns, "detail": detail}).encode() + b"\\n")
def note(name):
    with open(f"{RUN}/pids", "a") as pids:
        pids.write(f"{os.getpid()} {name}\\n")
"""


@dataclass
class Guest:
    """A script in place of the kernel, and what it gets."""

    request: Boot
    heard: list[Message]

    def boot(self) -> Ended:
        return boot(self.request, self.heard.append)

    def reason(self) -> str:
        """Boot, which must fail, and return why."""
        with pytest.raises(WblabError) as raised:
            self.boot()
        return str(raised.value)

    @property
    def console(self) -> str:
        return (self.request.run / "console.log").read_text()

    def pids(self) -> list[int]:
        """The processes that noted themselves."""
        path = self.request.run / "pids"
        return [int(line.split()[0]) for line in path.read_text().splitlines()] if path.exists() else []


@pytest.fixture
def guest(tmp_path):
    """Make a guest of Python code."""
    descriptors = []

    def make(code: str, silence_limit_s: float = 20.0) -> Guest:
        linux = tmp_path / "a linux"
        linux.write_text(f"#!{sys.executable} -IS\n{PRELUDE}\n{code}")
        linux.chmod(0o755)
        run, scratch = tmp_path / "the run", tmp_path / "scratch"
        run.mkdir()
        descriptors.append(os.memfd_create("disk"))
        return Guest(Boot(linux, ["mem=1", "a b"], run, scratch, descriptors[0], silence_limit_s), [])

    yield make
    for descriptor in descriptors:
        os.close(descriptor)


@pytest.fixture
def wait_until():
    """Wait until something is true."""

    def wait(condition, limit_s=20.0):
        deadline = time.monotonic() + limit_s
        while not condition():
            assert time.monotonic() < deadline
            time.sleep(0.01)

    return wait


@pytest.fixture
def alive():
    """Whether a process is there, be it as a zombie."""
    return lambda pid: Path(f"/proc/{pid}").exists()


@pytest.fixture
def shm(monkeypatch):
    """A directory of its own in shared memory, as other guests may run on this machine; nothing may stay in it."""
    directory = tempfile.mkdtemp(prefix="wblab-test-", dir="/dev/shm")
    monkeypatch.setenv("WBLAB_SHM", directory)
    yield lambda: set(os.listdir(directory))
    left = os.listdir(directory)
    shutil.rmtree(directory)
    assert left == []
