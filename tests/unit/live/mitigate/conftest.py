"""Real processes for the daemon's tests, on this machine; their settings are restored at the end."""

import fcntl
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from wblab.core.errors import WblabError
from wblab.lab.places import ROOT
from wblab.live.mitigate.taskstats import Taskstats

Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def alone() -> Iterator[None]:
    """Run one test at a time: a starting daemon restores every marked process, also those of another test's daemon."""
    with open(Path(tempfile.gettempdir(), f"wblab-mitigate-tests-{os.geteuid()}.lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@pytest.fixture
def start() -> Iterator[Start]:
    """Return a function that runs Python code in a separate process with pipes; it ends with the test."""
    running: list[subprocess.Popen[str]] = []
    # With PYTHONUNBUFFERED a line is written in pieces, and two processes that share a pipe mix theirs.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}

    def run(code: str, *arguments: object) -> "subprocess.Popen[str]":
        process = subprocess.Popen(
            [sys.executable, "-c", code, *map(str, arguments)],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        running.append(process)
        return process

    yield run
    for process in running:
        subprocess.run(["pkill", "-KILL", "-s", str(process.pid)], check=False)
        process.wait()


@pytest.fixture
def taskstats() -> Taskstats:
    try:
        return Taskstats()
    except WblabError as error:
        pytest.skip(f"no taskstats here: {error}")
