import os
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest
from support.waiting import LIMIT_S

from wblab.core.errors import WblabError
from wblab.core.status import Message
from wblab.host.process.boot import Boot, Ended, boot
from wblab.host.process.limits import Limits
from wblab.host.sandbox import Sandbox

# Definitions for a script in place of a kernel: messages to the host, its scratch directory, and one for notes.
PRELUDE = """
import json, os, signal, subprocess, sys, time
SCRATCH = os.readlink("/proc/self/fd/11")
def say(phase, guest_ns=0, **detail):
    os.write(13, json.dumps({"phase": phase, "guest_ns": guest_ns, "detail": detail}).encode() + b"\\n")
def note(name):
    with open(f"{NOTES}/pids", "a") as pids:
        pids.write(f"{os.getpid()} {name}\\n")
"""


@dataclass
class Guest:
    """A script in place of the kernel, and its arguments."""

    request: Boot
    heard: list[Message]
    notes: Path

    def boot(self) -> Ended:
        return boot(self.request, self.heard.append)

    def reason(self) -> str:
        """Boot, which must fail, and return the reason."""
        with pytest.raises(WblabError) as raised:
            self.boot()
        return str(raised.value)

    @property
    def console(self) -> str:
        return (self.request.run / "console.log").read_text()

    def pids(self) -> list[int]:
        """The processes that recorded their pids."""
        path = self.notes / "pids"
        return [int(line.split()[0]) for line in path.read_text().splitlines()] if path.exists() else []


@pytest.fixture
def guest(tmp_path):
    """Make a guest that runs Python code."""
    descriptors = []

    def make(code: str, silence_s: float = LIMIT_S, **limits) -> Guest:
        run, scratch, notes = tmp_path / "the run", tmp_path / "scratch", tmp_path / "notes"
        run.mkdir()
        notes.mkdir()
        linux = tmp_path / "a linux"
        linux.write_text(f"#!{sys.executable} -IS\nNOTES = {str(notes)!r}\n{PRELUDE}\n{code}")
        linux.chmod(0o755)
        descriptors.append(os.memfd_create("disk"))
        sandbox = Sandbox(runs=["/"], reads=["/"], keeps=[str(notes)], calls="")  # a Python needs more than a kernel
        bounds = Limits(silence_s=silence_s, **limits)
        return Guest(Boot(linux, ["mem=1", "a b"], run, scratch, [descriptors[0]], bounds, sandbox), [], notes)

    yield make
    for descriptor in descriptors:
        os.close(descriptor)


@pytest.fixture
def alive():
    """Whether a process exists, possibly as a zombie."""
    return lambda pid: Path(f"/proc/{pid}").exists()


@pytest.fixture
def shm(monkeypatch):
    """A separate directory in shared memory, because other guests may run; nothing may be left in it."""
    directory = tempfile.mkdtemp(prefix="wblab-test-", dir="/dev/shm")
    monkeypatch.setenv("WBLAB_SHM", directory)
    yield lambda: set(os.listdir(directory))
    left = os.listdir(directory)
    shutil.rmtree(directory)
    assert left == []
