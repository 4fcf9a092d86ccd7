"""wblab monitor on the command line, for tests: none is left behind, even if a test fails midway."""

import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence

import pytest

from wblab.lab.places import ROOT

_started: list[subprocess.Popen[str]] = []


@pytest.fixture(autouse=True)
def monitors_ended() -> Iterator[None]:
    """End at the end of a test all monitors that it started."""
    yield
    while _started:
        process = _started.pop()
        process.kill()
        process.wait()


def start(
    *arguments: str,
    environment: Mapping[str, str] | None = None,
    before: Sequence[str] = (),
    options: Sequence[str] = (),
) -> subprocess.Popen[str]:
    """Start a monitor. before: a command in front of it; options: of Python."""
    process = subprocess.Popen(
        [*before, sys.executable, *options, "-m", "wblab", "monitor", *arguments],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        start_new_session=True,
    )
    _started.append(process)
    return process
