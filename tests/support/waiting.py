"""Waiting for what takes an instant here, and may take long on a busy machine."""

import subprocess
import sys
import time
from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")
LIMIT_S = 120.0


def wait_until(condition: Callable[[], Found], limit_s: float = LIMIT_S) -> Found:
    """Return what a condition comes to as soon as that is true; fail when it does not become true."""
    deadline_s = time.monotonic() + limit_s
    while not (found := condition()):
        assert time.monotonic() < deadline_s, "this should have come true by now"
        time.sleep(0.01)
    return found


def patience_s() -> float:
    """Return a time in which a script of Python surely begins on this machine, as busy as it is: 3 s or more."""
    start_s = time.monotonic()
    subprocess.run([sys.executable, "-IS", "-c", "import subprocess"], check=True)
    return round(max(3.0, 30 * (time.monotonic() - start_s)), 1)
