"""Samplers as real processes, found by a mark in their environment, and the traces that a machine has."""

import os
import secrets
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from support.monitored import monitors_ended
from support.processes import bearing
from support.waiting import wait_until

from wblab.machine.block import mounted
from wblab.machine.tracefs import Instance
from wblab.machine.undo import Undo

__all__ = ["monitors_ended"]


def orphans() -> frozenset[str]:
    """Return the trace instances of ended samplers; running ones may have theirs."""
    places = mounted("tracefs")
    names = os.listdir(places[0] / "instances") if places else []
    monitors = [name for name in names if name.startswith("wblab-monitor-")]
    return frozenset(name for name in monitors if not Path("/proc", name.rpartition("-")[2]).exists())


@dataclass(frozen=True)
class Marked:
    """A mark for the environment of a test's processes, a directory for a probe, and checks of what is left.

    before: what others left, who were killed together with their guards.
    """

    directory: Path
    mark: str = field(default_factory=lambda: secrets.token_hex(8))
    before: frozenset[str] = field(default_factory=orphans)

    @property
    def environment(self) -> dict[str, str]:
        return os.environ | {"WBLAB_MARK": self.mark}

    def processes(self) -> dict[int, str]:
        """Return the names of processes with the mark, by pid, without zombies."""
        return bearing("environ", f"WBLAB_MARK={self.mark}")

    def await_nothing(self) -> None:
        """Wait until no process, no trace instance of an ended sampler and no file of the probe is left."""
        wait_until(lambda: not self.processes() and not orphans() - self.before)
        assert list(self.directory.iterdir()) == []


@pytest.fixture
def marked(tmp_path):
    (tmp_path / "probed").mkdir()
    return Marked(tmp_path / "probed")


@pytest.fixture
def may_trace():
    """Skip if the host does not permit tracing; keep tracefs mounted, so that its instances can be inspected."""
    with Undo() as undo:
        try:
            Instance("probe", undo)
        except OSError as error:
            pytest.skip(f"this host does not let us trace: {error.strerror}")
        yield
