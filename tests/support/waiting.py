"""Wait for what is instant here, and may be slow on a busy machine."""

import subprocess
import sys
import time
from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")
LIMIT_S = 120.0


def wait_until(condition: Callable[[], Found], limit_s: float = LIMIT_S) -> Found:
    """Return a condition's value as soon as it is true; fail if it stays false."""
    deadline_s = time.monotonic() + limit_s
    while not (found := condition()):
        assert time.monotonic() < deadline_s, "this should have come true by now"
        time.sleep(0.01)
    return found


def patience_s() -> float:
    """Return a time in s within which a Python script surely starts on this machine now; at least 3 s."""
    start_s = time.monotonic()
    subprocess.run([sys.executable, "-IS", "-c", "import subprocess"], check=True)
    return round(max(3.0, 30 * (time.monotonic() - start_s)), 1)
