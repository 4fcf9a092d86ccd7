"""Gauges as real processes, found by a mark in their environment, and the trace instances that they leave."""

import os
import secrets

import pytest
from support.monitored import monitors_ended
from support.processes import bearing
from support.waiting import wait_until

from wblab.machine.block import mounted

__all__ = ["monitors_ended"]


def instances():
    """Return the names of the gauges' trace instances."""
    names = os.listdir(places[0] / "instances") if (places := mounted("tracefs")) else []
    return {name for name in names if name.startswith("wblab-gauge-")}


class Marked:
    """A mark for the environment of a test's processes, and checks of what is left."""

    def __init__(self):
        self.mark = secrets.token_hex(8)
        self.before = instances()

    @property
    def environment(self):
        return os.environ | {"WBLAB_MARK": self.mark}

    def await_nothing(self):
        wait_until(lambda: not bearing("environ", f"WBLAB_MARK={self.mark}") and not instances() - self.before)


@pytest.fixture
def marked():
    return Marked()
